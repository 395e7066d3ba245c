//! faster-than: one line of cases is better than another.

use super::compare::{Compared, Lean, Statistic, compare, correct};
use super::comparison::Comparison;
use super::evidence::Place;
use super::interval::{Bounds, Sure};
use super::key_values::{KeyError, KeyValues};
use super::keys::{AT, ComparedAt, FIRST, NEGLIGIBLE, OF_SECOND, SECOND, STATISTIC};
use super::operand_cases::OperandCases;
use super::operands::{Compares, Pair, compares};
use super::picture::Picture;
use super::{Cells, Claim, Found, Judge, Part, Point, Rule, Test, Verdict, parsed};
use crate::Better;

pub(super) const TEST: Test = Test {
    name: "faster-than",
    about: "the first cases are better than the second in the metric: more bandwidth, less time",
    formula: "In each block that has all levels the geometric mean over levels of the first and of the second, or \
              at each level the value itself; the paired Wilcoxon test by block (or the statistic named), \
              two-sided. Supported where p lies below the level (corrected over the parts where `need` is below \
              1) and the first is better; rejected where corrected p does and the second is, or where the \
              1 - level interval of the ratio (t on logarithms of paired ratios; 1 - level/m for m parts) shows \
              less than a negligible advantage. `decided_by` says which of the two rules it was.",
    assumptions: "Blocks are independent; within a block the machine was the same for both. Wilcoxon's test \
                  supposes that differences lie evenly around their middle. Where all parts must hold, chance \
                  would have to deceive at each, and none is corrected to support (Berger 1982); one part \
                  suffices to reject, and is.",
    source: "Wilcoxon 1945, Biometrics Bulletin 1; Holm 1979, Scandinavian Journal of Statistics 6; Berger 1982, \
             Technometrics 24",
    keys: &[FIRST, SECOND, OF_SECOND, AT, STATISTIC, NEGLIGIBLE],
    picture: Picture::RATIOS,
    parse: parsed::<FasterThanKeys>,
};

/// Keys of faster-than.
#[derive(Debug)]
struct FasterThanKeys {
    operands: OperandCases,
    at: ComparedAt,
    comparison: Comparison,
}

impl Judge for FasterThanKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self {
            operands: OperandCases::parse(keys, keys.value(&OF_SECOND)?)?,
            at: keys.value(&AT)?,
            comparison: Comparison::parse(keys)?,
        })
    }

    fn find(&self, claim: &Claim, cells: &Cells<'_>) -> Found {
        match (compares(claim, &self.operands, cells), self.at) {
            (Err(found), _) => *found,
            (Ok(both), ComparedAt::Levels) => at_levels(claim, self.comparison, &both, |_| true),
            (Ok(both), ComparedAt::Blocks) => by_means(claim, self.comparison, &both),
        }
    }

    fn operands(&self) -> Option<&OperandCases> {
        Some(&self.operands)
    }
}

/// Compares the means over levels of each pair.
fn by_means(claim: &Claim, comparison: Comparison, both: &Compares<'_>) -> Found {
    let is_otherwise = |ratio: f64| match both.better {
        Better::Higher => ratio < 1.0,
        Better::Lower => ratio > 1.0,
    };
    let one = |pair: &Pair<'_>| compare_means(pair, is_otherwise, comparison.statistic, &both.unit);
    let all = both.pairs.iter().map(one).collect();
    let mut found = judged(claim, comparison.negligible, (all, Vec::new()), both.better);
    found.told = both.pairs.iter().map(|pair| by_level(pair, both)).collect();
    found
}

/// Compares the means over levels of `pair`. Levels whose ratio satisfies `is_otherwise` are reported as disagreeing.
pub(super) fn compare_means(
    pair: &Pair<'_>,
    is_otherwise: impl Fn(f64) -> bool,
    statistic: Statistic,
    unit: &str,
) -> Compared {
    let (sides, levels) = pair.by_block(is_otherwise);
    let mut compared = compare(Place::line(&pair.name), &sides, statistic, unit);
    compared.part = compared.part.over(levels);
    compared
}

/// Compares at each level that satisfies `is_meant`.
pub(super) fn at_levels(
    claim: &Claim,
    comparison: Comparison,
    both: &Compares<'_>,
    is_meant: impl Fn(&Point) -> bool,
) -> Found {
    let (mut all, mut missing) = (Vec::new(), Vec::new());
    for pair in &both.pairs {
        for (point, sides) in pair.by_level().into_iter().filter(|(point, _)| is_meant(point)) {
            let place = named(both, pair, point);
            all.push(compare(place, &sides, comparison.statistic, &both.unit));
        }
        for point in pair.unpaired().into_iter().filter(|point| is_meant(point)) {
            let why = "only one of the two has values there that count";
            missing.push(Part::untestable(named(both, pair, point), why));
        }
    }
    judged(claim, comparison.negligible, (all, missing), both.better)
}

/// Returns the place of a level. It names the pair if there are several.
pub(super) fn named(both: &Compares<'_>, pair: &Pair<'_>, point: &Point) -> Place {
    let level = Place::level(point);
    if both.pairs.len() == 1 { level } else { level.of_line(&pair.name) }
}

/// Judges the comparisons. `missing` holds the parts that could not be compared.
fn judged(
    claim: &Claim,
    negligible: f64,
    (mut all, missing): (Vec<Compared>, Vec<Part>),
    better: Better,
) -> Found {
    correct(&mut all, claim.correction());
    let sure = Sure::of(claim, all.len(), claim.level());
    let none = no_advantage(negligible, better);
    let parts = all.into_iter().map(|one| part(claim, one, none, sure, better));
    Found::of(missing.into_iter().chain(parts).collect(), claim.need())
}

/// Judges one comparison. `none` are the ratios of first to second without a relevant advantage.
fn part(claim: &Claim, compared: Compared, none: Bounds, sure: Sure, better: Better) -> Part {
    if matches!(compared.part.verdict, Verdict::NotTestable { .. }) {
        return compared.part;
    }
    let wins = match better {
        Better::Higher => Lean::First,
        Better::Lower => Lean::Second,
    };
    let loses = compared.lean != wins && compared.lean != Lean::Neither;
    let (verdict, rule) = if compared.suffices(claim) && compared.lean == wins {
        (Verdict::Supported, Some(Rule::P))
    } else if compared.is_significant(claim.level()) && loses {
        (Verdict::Rejected, Some(Rule::P))
    } else if compared.is_no_better(none, sure) {
        (Verdict::Rejected, Some(Rule::Interval))
    } else {
        let level = if loses { sure.rejects } else { sure.supports };
        (compared.open(level, Some(none)), None)
    };
    compared.decided(claim, verdict, rule)
}

/// Returns the range of ratios of first to second that are at most a negligible advantage.
fn no_advantage(negligible: f64, better: Better) -> Bounds {
    let most = 1.0 + negligible;
    match better {
        Better::Higher => Bounds { above: None, below: Some(most) },
        Better::Lower => Bounds { above: Some(1.0 / most), below: None },
    }
}

impl Compared {
    /// Whether the interval for rejection shows that the ratio lies within `none`, where the first has no relevant
    /// advantage.
    fn is_no_better(&self, none: Bounds, sure: Sure) -> bool {
        let ratio = self.ratio_at(1.0 - sure.rejects);
        self.is_identical() || ratio.is_some_and(|ratio| none.holds(&ratio))
    }
}

/// Lists the ratio at each level.
fn by_level(pair: &Pair<'_>, both: &Compares<'_>) -> String {
    let words = pair.by_level().into_iter().filter_map(|(point, sides)| {
        let ratio = sides.ratio(Statistic::Wilcoxon, 0.95)?;
        Some(format!("{} {:.2}", point.label, ratio.value))
    });
    let words: Vec<String> = words.collect();
    let what = if both.unit == "ns" { "times" } else { "ratios" };
    format!("{what} of {} by level: {}", pair.name, words.join(", "))
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::{Made, made};

    const KEYS: &str = "test = \"faster-than\"\nfirst = { mechanism = \"pipe\" }\n\
                        second = { mechanism = \"unix-stream\" }\n";

    fn ratio(first: f64, blocks: u32, noise: f64) -> Made {
        made(blocks, noise, &[("pipe", &[first; 3]), ("unix-stream", &[1.0; 3])])
    }

    #[test]
    fn faster_is_supported_slower_rejected_and_as_fast_too() {
        assert_eq!(ratio(0.9, 10, 0.02).word(KEYS), "supported");
        assert_eq!(ratio(1.1, 10, 0.02).word(KEYS), "rejected");
        assert_eq!(ratio(1.0, 10, 0.005).word(KEYS), "rejected");
        assert_eq!(ratio(1.0, 10, 0.1).word(KEYS), "inconclusive");
    }

    #[test]
    fn few_repetitions_say_nothing_and_how_many_would() {
        for blocks in [1, 2, 5] {
            assert_eq!(ratio(0.9, blocks, 0.02).word(KEYS), "inconclusive", "{blocks}");
        }
        assert_eq!(ratio(0.9, 5, 0.02).repetitions(KEYS), Some(6));
        assert_eq!(ratio(0.9, 1, 0.02).repetitions(KEYS), None);
    }

    #[test]
    fn what_was_not_measured_is_not_testable() {
        let made = ratio(0.9, 10, 0.02).without(|mechanism, _, _| mechanism == "pipe");
        let found = made.found(KEYS);
        assert_eq!(found.verdict.word(), "not testable here");
        assert!(
            found.verdict.words().contains("30 were held up by the machine"),
            "{:?}",
            found.verdict
        );
        let keys = format!("{KEYS}where = {{ instrument = \"counters\" }}\n");
        let words = ratio(0.9, 10, 0.02).found(&keys).verdict.words();
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
        let found = ratio(0.9, 20, 0.02).classed(class).found(KEYS);
        assert_eq!(found.parts[0].n, 9);
    }
}
