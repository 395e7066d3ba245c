//! same-shape: two lines rise and fall alike, whatever their heights.

use ipcperf_stats::{Bootstrap, LevelShape, shapes};

use super::compare::{ComparisonResult, SamplePair, Statistic, compare};
use super::correction::correct_p_values;
use super::evidence::{EstimateKind, PartScope};
use super::figure_layout::{BetterNote, Caption, FigureLayout, PanelGrouping};
use super::interval::{Alphas, Bounds, median_estimate};
use super::key_values::{KeyChoice, KeyError, KeyValues};
use super::operand_cases::{OperandCases, SecondLines};
use super::operands::{LinePair, pair_lines};
use super::shared_keys::{FIRST, MARGIN, SECOND, STATISTIC};
use super::{Cells, Claim, Estimate, Findings, Judge, Part, Test, Verdict, parse_keys};
use crate::{Key, Requirement, ValueType};

pub(super) const TEST: Test = Test {
    name: "same-shape",
    about: "the two lines have the same shape, whatever their heights",
    estimate: "In each block that has all levels, each line is divided by its mean over the levels. At each level, the \
               ratio is the divided value of the first line, divided by that of the second. There are two rules by \
               which levels are judged. With the rule `equivalence`, the median of the ratio over blocks has an \
               interval by order statistics at each level. With an alpha of 0.05, this interval needs at least six \
               blocks. In the following, m is the number of pairs of lines, and q is the number of levels of a pair. A \
               level is equal if the 1 - alpha interval lies between 1/(1 + `margin`) and 1 + `margin`. A level \
               differs if the 1 - alpha/(m q) interval lies entirely outside this range. A level can also be neither \
               equal nor different. If `max_differing` is above 0 or `min_fraction` is below 1, a level is equal only \
               if a wider interval lies in the range. This interval uses alpha/q if only `max_differing` is above 0, \
               alpha/m if only `min_fraction` is below 1, and alpha/(m q) if both are true. With the rule \
               `difference`, which some papers use, a paired test compares the divided values of the two lines at each \
               level. A level differs if its p, corrected over the levels, is below alpha/m. Otherwise, it is equal.",
    supported_if: "all levels are equal, except for at most `max_differing` of them.",
    rejected_if: "more than `max_differing` levels differ.",
    assumptions: "Blocks are independent. A large p-value is not evidence of equality: with very few repetitions, \
                  every claim passes the rule `difference`.",
    source: "Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15; Bell-Thomas 2020",
    keys: &[FIRST, SECOND, STATISTIC, MARGIN, RULE, MAX_DIFFERING],
    figure_layout: FigureLayout {
        panels: PanelGrouping::All,
        caption: Caption::Always(
            "The lines as measured. The test compares the lines after each is divided by its mean over the \
             levels. Lines of the same shape differ only by a shift up or down.",
        ),
        better: BetterNote::Hidden,
    },
    parse: parse_keys::<SameShapeKeys>,
};

const RULE: Key = Key {
    name: "rule",
    value_type: ValueType::Choice(&["equivalence", "difference"]),
    requirement: Requirement::Optional("equivalence"),
    about: "equivalence: equality must be shown; difference: no significant difference may be found",
    example: "\"equivalence\"",
};

const MAX_DIFFERING: Key = Key {
    name: "max_differing",
    value_type: ValueType::Integer(0, 1_000),
    requirement: Requirement::Optional("0"),
    about: "number of levels at which the shapes may differ",
    example: "3",
};

/// Rule by which levels are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShapeRule {
    /// Their ratio lies within a margin.
    Equivalence,
    /// No difference is significant.
    Difference,
}

impl KeyChoice for ShapeRule {
    fn from_choice(word: &str) -> Option<Self> {
        match word {
            "equivalence" => Some(Self::Equivalence),
            "difference" => Some(Self::Difference),
            _ => None,
        }
    }
}

/// Keys of same-shape.
#[derive(Debug)]
struct SameShapeKeys {
    operands: OperandCases,
    statistic: Statistic,
    margin: f64,
    rule: ShapeRule,
    /// Maximum number of levels that may differ.
    max_differing: usize,
}

impl Judge for SameShapeKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self {
            operands: OperandCases::parse(keys, SecondLines::Each)?,
            statistic: keys.value(&STATISTIC)?,
            margin: keys.value(&MARGIN)?,
            rule: keys.value(&RULE)?,
            max_differing: keys.value(&MAX_DIFFERING)?,
        })
    }

    fn evaluate(&self, claim: &Claim, cells: &Cells<'_>) -> Findings {
        let both = match pair_lines(claim, &self.operands, cells) {
            Ok(both) => both,
            Err(found) => return *found,
        };
        let (mut parts, mut by_level) = (Vec::new(), Vec::new());
        for pair in &both.pairs {
            let (part, levels) = self.judge_pair(claim, pair, both.pairs.len());
            by_level.extend(levels.into_iter().map(|level| level.with_line(&pair.name)));
            parts.push(part);
        }
        Findings { by_level, ..Findings::from_parts(parts, claim.min_fraction()) }
    }

    fn operands(&self) -> Option<&OperandCases> {
        Some(&self.operands)
    }
}

impl SameShapeKeys {
    /// Judges one of `pairs` pairs of lines. Also returns its levels.
    fn judge_pair(&self, claim: &Claim, pair: &LinePair<'_>, pairs: usize) -> (Part, Vec<Part>) {
        let untestable =
            |why: String| (Part::untestable(PartScope::from_line(&pair.name), why), Vec::new());
        let (pair, over) = &pair.complete_part();
        let curves = match pair.curves() {
            Ok(curves) => curves,
            Err(why) => return untestable(why.to_string()),
        };
        let shapes = match shapes(&curves.0, &curves.1, &Bootstrap::default()) {
            Ok(shapes) => shapes,
            Err(why) => return untestable(why.to_string()),
        };
        let found = self.combine_levels(self.judge_levels(claim, pair, &shapes, pairs));
        let holds = found.parts.iter().filter(|part| part.verdict == Verdict::Supported).count();
        let n = found.parts.iter().map(|part| part.n).min().unwrap_or(0);
        let mut part = Part::new(PartScope::from_line(&pair.name), n);
        part.note = Some(format!("{holds} of {} levels equal", found.parts.len()));
        part.estimates = farthest_level(&found.parts).into_iter().collect();
        part.verdict = found.verdict;
        part.series = found.parts.iter().flat_map(|level| level.series.clone()).collect();
        (part.with_levels(Some(over.clone())), found.parts)
    }

    /// Judges each level of one of `pairs` pairs of lines.
    fn judge_levels(
        &self,
        claim: &Claim,
        pair: &LinePair<'_>,
        shapes: &[LevelShape],
        pairs: usize,
    ) -> Vec<Part> {
        match self.rule {
            ShapeRule::Difference => {
                let alphas = Alphas::new(claim, pairs, claim.alpha());
                judge_by_difference((claim, self.statistic), pair, shapes, alphas.reject)
            }
            ShapeRule::Equivalence => {
                let alphas = Alphas::with_levels(claim, (pairs, shapes.len()), claim.alpha());
                let alphas =
                    if self.max_differing > 0 { alphas.with_some_levels() } else { alphas };
                judge_by_equivalence(Bounds::around_one(self.margin), pair, shapes, alphas)
            }
        }
    }

    /// Combines the verdicts of the levels of a pair, of which some may differ.
    #[allow(clippy::cast_precision_loss, reason = "a few levels")]
    fn combine_levels(&self, levels: Vec<Part>) -> Findings {
        let alike = levels.len().saturating_sub(self.max_differing);
        let need = alike as f64 / levels.len().max(1) as f64;
        Findings::from_parts(levels, need)
    }
}

/// Returns the ratio at the level that deviates most from 1.
fn farthest_level(levels: &[Part]) -> Option<Estimate> {
    let deviation = |estimate: &Estimate| estimate.value.ln().abs();
    let all =
        levels.iter().filter_map(|level| Some((level.what.as_str(), level.estimates.first()?)));
    let (what, farthest) =
        all.max_by(|one, other| deviation(one.1).total_cmp(&deviation(other.1)))?;
    Some(farthest.clone().farthest_at(what))
}

fn level_scope(pair: &LinePair<'_>, shape: &LevelShape) -> PartScope {
    let point = pair.first.points.iter().find(|point| point.x.total_cmp(&shape.level).is_eq());
    point.map_or_else(PartScope::default, PartScope::from_point)
}

fn judge_by_equivalence(
    bounds: Bounds,
    pair: &LinePair<'_>,
    shapes: &[LevelShape],
    alphas: Alphas,
) -> Vec<Part> {
    let judged = |shape: &LevelShape| {
        let ratios: Vec<f64> = shape.pairs.iter().map(|(first, second)| first / second).collect();
        let mut part = Part::new(level_scope(pair, shape), ratios.len());
        let at = |level| median_estimate(EstimateKind::Ratio, &ratios, level);
        let (verdict, ratio) = bounds.judge(at, alphas, part.n);
        part.verdict = verdict;
        part.estimates.extend(ratio);
        part.series = vec![ratios];
        part
    };
    shapes.iter().map(judged).collect()
}

fn judge_by_difference(
    (claim, statistic): (&Claim, Statistic),
    pair: &LinePair<'_>,
    shapes: &[LevelShape],
    alpha: f64,
) -> Vec<Part> {
    let compared = |shape: &LevelShape| {
        compare(level_scope(pair, shape), &SamplePair::from_pairs(&shape.pairs), statistic, "")
    };
    let mut all: Vec<ComparisonResult> = shapes.iter().map(compared).collect();
    correct_p_values(all.iter_mut().map(|one| &mut one.part), claim.correction());
    let judged = |one: ComparisonResult| {
        let verdict = match one.part.verdict {
            Verdict::NotTestable { .. } => one.part.verdict.clone(),
            _ if one.is_significant(alpha) => Verdict::Rejected,
            _ => Verdict::Supported,
        };
        Part { verdict, ..one.part }
    };
    all.into_iter().map(judged).collect()
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::{SyntheticData, synthetic};

    const KEYS: &str = "test = \"same-shape\"\nfirst = { mechanism = \"pipe\" }\n\
                        second = { mechanism = \"unix-stream\" }\n";

    fn data_with(blocks: u32, values: &[f64; 4]) -> SyntheticData {
        synthetic(blocks, 0.02, &[("pipe", values), ("unix-stream", &[1.0, 2.0, 3.0, 2.0])])
    }

    #[test]
    fn height_is_no_part_of_a_shape() {
        assert_eq!(data_with(10, &[5.0, 10.0, 15.0, 10.0]).verdict_name(KEYS), "supported");
        assert_eq!(data_with(10, &[1.0, 2.0, 3.0, 4.0]).verdict_name(KEYS), "rejected");
    }

    #[test]
    fn five_blocks_never_show_sameness_but_by_the_rule_of_the_documents() {
        let five = synthetic(5, 0.0, &[("pipe", &[1.0, 2.0]), ("unix-stream", &[1.0, 2.0])]);
        assert_eq!(five.verdict_name(KEYS), "inconclusive");
        assert_eq!(five.verdict_name(&format!("{KEYS}rule = \"difference\"\n")), "supported");
    }

    #[test]
    fn each_level_of_each_pair_is_told() {
        let found = data_with(10, &[5.0, 10.0, 15.0, 10.0]).findings(KEYS);
        assert_eq!(found.by_level.len(), 4);
        let (pair, first) = (&found.parts[0].what, &found.by_level[0].what);
        assert!(first.starts_with(&format!("{pair}, ")), "{first}");
    }

    #[test]
    fn so_many_levels_may_differ_as_are_named() {
        let one_off = data_with(20, &[1.0, 2.0, 3.0, 2.6]);
        let verdict = |levels: u32| {
            one_off.verdict_name(&format!("{KEYS}margin = 0.12\nmax_differing = {levels}\n"))
        };
        assert_eq!((verdict(0), verdict(1)), ("rejected", "supported"));
    }
}
