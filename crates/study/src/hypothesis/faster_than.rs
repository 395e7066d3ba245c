//! faster-than: one line of cases is better than another.

use super::compare::{ComparisonResult, Direction, Statistic, compare};
use super::comparison_keys::ComparisonKeys;
use super::correction::correct_p_values;
use super::evidence::PartScope;
use super::figure_layout::FigureLayout;
use super::interval::{Alphas, Bounds};
use super::key_values::{KeyError, KeyValues};
use super::operand_cases::OperandCases;
use super::operands::{LinePair, PairedLines, pair_lines};
use super::shared_keys::{AT, ComparedAt, FIRST, NEGLIGIBLE, OF_SECOND, SECOND, STATISTIC};
use super::{Cells, Claim, DecisionRule, Findings, Judge, Part, Point, Test, Verdict, parse_keys};
use crate::Better;

pub(super) const TEST: Test = Test {
    name: "faster-than",
    about: "the first side has a better value of the metric than the second, such as a higher bandwidth or a \
            shorter time",
    estimate: "In each block, each line has one value: the geometric mean of its values at all levels. Only blocks \
               that have all levels are used. With `at = \"levels\"`, each level is compared separately instead. \
               The p-value p is that of the two-sided paired Wilcoxon test, or of the test that `statistic` names. \
               The interval of the ratio of the two sides is computed by Student's t on the logarithms of the \
               paired ratios. If `statistic` ignores blocks, the interval is computed by Welch's t on the \
               logarithms of the values.",
    supported_if: "the first side is better, with p below alpha. If `min_fraction` is below 1, the corrected p \
                   must be below alpha.",
    rejected_if: "the second side is better, with the corrected p below alpha. A part is also rejected if the 1 - \
                  alpha/m interval of the ratio shows that the first side has at most a negligible advantage. In \
                  the output of `judge --json`, `decided_by` names the rule that decided: `p` or `interval`.",
    assumptions: "Blocks are independent, and within a block the machine is in the same state for both sides. \
                  Wilcoxon's test assumes that the differences have a symmetric distribution. If all parts must be \
                  supported, p is not corrected for support. The reason is that a false claim has at least one \
                  false part, and chance supports this part with a probability of at most alpha (Berger 1982). For \
                  rejection, p is corrected, because one rejected part is then enough to reject the claim.",
    source: "Wilcoxon 1945, Biometrics Bulletin 1; Holm 1979, Scandinavian Journal of Statistics 6; Berger 1982, \
             Technometrics 24",
    keys: &[FIRST, SECOND, OF_SECOND, AT, STATISTIC, NEGLIGIBLE],
    figure_layout: FigureLayout::RATIOS,
    parse: parse_keys::<FasterThanKeys>,
};

/// Keys of faster-than.
#[derive(Debug)]
struct FasterThanKeys {
    operands: OperandCases,
    at: ComparedAt,
    comparison: ComparisonKeys,
}

impl Judge for FasterThanKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self {
            operands: OperandCases::parse(keys, keys.value(&OF_SECOND)?)?,
            at: keys.value(&AT)?,
            comparison: ComparisonKeys::parse(keys)?,
        })
    }

    fn evaluate(&self, claim: &Claim, cells: &Cells<'_>) -> Findings {
        match (pair_lines(claim, &self.operands, cells), self.at) {
            (Err(found), _) => *found,
            (Ok(both), ComparedAt::Levels) => {
                judge_at_levels(claim, self.comparison, &both, |_| true)
            }
            (Ok(both), ComparedAt::Blocks) => judge_means(claim, self.comparison, &both),
        }
    }

    fn operands(&self) -> Option<&OperandCases> {
        Some(&self.operands)
    }
}

/// Compares the means over levels of each pair.
fn judge_means(claim: &Claim, comparison: ComparisonKeys, both: &PairedLines<'_>) -> Findings {
    let contradicts = |ratio: f64| match both.better {
        Better::Higher => ratio < 1.0,
        Better::Lower => ratio > 1.0,
    };
    let compare_pair =
        |pair: &LinePair<'_>| compare_means(pair, contradicts, comparison.statistic, &both.unit);
    let all = both.pairs.iter().map(compare_pair).collect();
    let mut found = judge_comparisons(claim, comparison.negligible, (all, Vec::new()), both.better);
    found.remarks = both.pairs.iter().map(|pair| ratios_by_level(pair, both)).collect();
    found
}

/// Compares the means over levels of `pair`. Levels whose ratio satisfies `contradicts` are reported as disagreeing.
pub(super) fn compare_means(
    pair: &LinePair<'_>,
    contradicts: impl Fn(f64) -> bool,
    statistic: Statistic,
    unit: &str,
) -> ComparisonResult {
    let (sides, levels) = pair.block_means(contradicts);
    let mut compared = compare(PartScope::from_line(&pair.name), &sides, statistic, unit);
    compared.part = compared.part.with_levels(levels);
    compared
}

/// Compares at each level that satisfies `is_selected`.
pub(super) fn judge_at_levels(
    claim: &Claim,
    comparison: ComparisonKeys,
    both: &PairedLines<'_>,
    is_selected: impl Fn(&Point) -> bool,
) -> Findings {
    let (mut all, mut missing) = (Vec::new(), Vec::new());
    for pair in &both.pairs {
        for (point, sides) in
            pair.samples_by_level().into_iter().filter(|(point, _)| is_selected(point))
        {
            let place = level_scope(both, pair, point);
            all.push(compare(place, &sides, comparison.statistic, &both.unit));
        }
        for point in pair.unpaired().into_iter().filter(|point| is_selected(point)) {
            let why = "only one of the two lines has valid values at this level";
            missing.push(Part::untestable(level_scope(both, pair, point), why));
        }
    }
    judge_comparisons(claim, comparison.negligible, (all, missing), both.better)
}

/// Returns the place of a level. It names the pair if there are several.
pub(super) fn level_scope(both: &PairedLines<'_>, pair: &LinePair<'_>, point: &Point) -> PartScope {
    let level = PartScope::from_point(point);
    if both.pairs.len() == 1 { level } else { level.with_line(&pair.name) }
}

/// Judges the comparisons. `missing` holds the parts that could not be compared.
fn judge_comparisons(
    claim: &Claim,
    negligible: f64,
    (mut all, missing): (Vec<ComparisonResult>, Vec<Part>),
    better: Better,
) -> Findings {
    correct_p_values(all.iter_mut().map(|one| &mut one.part), claim.correction());
    let alphas = Alphas::new(claim, all.len(), claim.alpha());
    let bounds = no_advantage(negligible, better);
    let parts = all.into_iter().map(|one| judge_comparison(claim, one, bounds, alphas, better));
    Findings::from_parts(missing.into_iter().chain(parts).collect(), claim.min_fraction())
}

/// Judges one comparison. `bounds` are the ratios of first to second without a relevant advantage.
fn judge_comparison(
    claim: &Claim,
    compared: ComparisonResult,
    bounds: Bounds,
    alphas: Alphas,
    better: Better,
) -> Part {
    if matches!(compared.part.verdict, Verdict::NotTestable { .. }) {
        return compared.part;
    }
    let wins = match better {
        Better::Higher => Direction::First,
        Better::Lower => Direction::Second,
    };
    let loses = compared.direction != wins && compared.direction != Direction::Neither;
    let (verdict, rule) = if compared.suffices(claim) && compared.direction == wins {
        (Verdict::Supported, Some(DecisionRule::P))
    } else if compared.is_significant(claim.alpha()) && loses {
        (Verdict::Rejected, Some(DecisionRule::P))
    } else if compared.is_no_better(bounds, alphas) {
        (Verdict::Rejected, Some(DecisionRule::Interval))
    } else {
        let level = if loses { alphas.reject } else { alphas.support };
        (compared.inconclusive(level, Some(bounds)), None)
    };
    compared.into_part(claim, verdict, rule)
}

/// Returns the range of ratios of first to second that are at most a negligible advantage.
fn no_advantage(negligible: f64, better: Better) -> Bounds {
    let max_ratio = 1.0 + negligible;
    match better {
        Better::Higher => Bounds { above: None, below: Some(max_ratio) },
        Better::Lower => Bounds { above: Some(1.0 / max_ratio), below: None },
    }
}

impl ComparisonResult {
    /// Whether the interval for rejection shows that the ratio lies within `bounds`, where the first has no relevant
    /// advantage.
    fn is_no_better(&self, bounds: Bounds, alphas: Alphas) -> bool {
        let ratio = self.ratio_at(1.0 - alphas.reject);
        self.is_identical() || ratio.is_some_and(|ratio| bounds.contains_interval(&ratio))
    }
}

/// Lists the ratio at each level.
fn ratios_by_level(pair: &LinePair<'_>, both: &PairedLines<'_>) -> String {
    let words = pair.samples_by_level().into_iter().filter_map(|(point, sides)| {
        let ratio = sides.ratio(Statistic::Wilcoxon, 0.95)?;
        Some(format!("{} {:.2}", point.label, ratio.value))
    });
    let words: Vec<String> = words.collect();
    let what = if both.unit == "ns" { "times" } else { "ratios" };
    format!("{what} of {} by level: {}", pair.name, words.join(", "))
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::{SyntheticData, synthetic};

    const KEYS: &str = "test = \"faster-than\"\nfirst = { mechanism = \"pipe\" }\n\
                        second = { mechanism = \"unix-stream\" }\n";

    fn ratio(first: f64, blocks: u32, noise: f64) -> SyntheticData {
        synthetic(blocks, noise, &[("pipe", &[first; 3]), ("unix-stream", &[1.0; 3])])
    }

    #[test]
    fn faster_is_supported_slower_rejected_and_as_fast_too() {
        assert_eq!(ratio(0.9, 10, 0.02).verdict_name(KEYS), "supported");
        assert_eq!(ratio(1.1, 10, 0.02).verdict_name(KEYS), "rejected");
        assert_eq!(ratio(1.0, 10, 0.005).verdict_name(KEYS), "rejected");
        assert_eq!(ratio(1.0, 10, 0.1).verdict_name(KEYS), "inconclusive");
    }

    #[test]
    fn few_repetitions_say_nothing_and_how_many_would() {
        for blocks in [1, 2, 5] {
            assert_eq!(ratio(0.9, blocks, 0.02).verdict_name(KEYS), "inconclusive", "{blocks}");
        }
        assert_eq!(ratio(0.9, 5, 0.02).needed_repetitions(KEYS), Some(6));
        assert_eq!(ratio(0.9, 1, 0.02).needed_repetitions(KEYS), None);
    }

    #[test]
    fn what_was_not_measured_is_not_testable() {
        let data = ratio(0.9, 10, 0.02).without(|mechanism, _, _| mechanism == "pipe");
        let found = data.findings(KEYS);
        assert_eq!(found.verdict.name(), "not testable here");
        assert!(found.verdict.description().contains("30 were disturbed"), "{:?}", found.verdict);
        let keys = format!("{KEYS}where = {{ instrument = \"counters\" }}\n");
        let words = ratio(0.9, 10, 0.02).findings(&keys).verdict.description();
        assert!(words.contains("there is no PMU (measure on hardware)"), "{words}");
    }

    #[test]
    fn only_what_lies_equally_far_apart_is_compared() {
        // Most runs of the pipe were far. Most runs of the socket, and most overall, were near. Both were near in
        // blocks 12 to 20.
        let class = |mechanism: &str, block| match (mechanism, block) {
            ("pipe", 1..=11) | ("unix-stream", 1..=6) => "far",
            _ => "near",
        };
        let found = ratio(0.9, 20, 0.02).with_classes(class).findings(KEYS);
        assert_eq!(found.parts[0].n, 9);
    }
}
