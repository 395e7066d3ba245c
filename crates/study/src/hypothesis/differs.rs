//! differs: two lines of cases differ in either direction.

use super::compare::{ComparisonResult, Direction, Statistic, compare};
use super::correction::correct_p_values;
use super::evidence::PartScope;
use super::faster_than::{compare_means, level_scope};
use super::figure_layout::FigureLayout;
use super::interval::{Alphas, Bounds};
use super::key_values::{KeyError, KeyValues};
use super::operand_cases::{OperandCases, SecondLines};
use super::operands::{LinePair, pair_lines};
use super::shared_keys::{AT, ComparedAt, FIRST, NEGLIGIBLE, SECOND, STATISTIC};
use super::{
    Cells, Claim, DecisionRule, Estimate, Findings, Judge, Part, Test, Verdict, parse_keys,
};
use crate::{Key, Requirement, ValueType};

pub(super) const TEST: Test = Test {
    name: "differs",
    about: "the two sides differ, in either direction",
    estimate: "p and the interval of the ratio are computed as in faster-than. With `effect`, the size of the \
               difference is also measured by Hedges' g, with an interval.",
    supported_if: "p is below alpha. With `effect`, the 1 - alpha interval of g must also lie entirely above \
                   `effect` or entirely below -`effect`. If `min_fraction` is below 1, the corrected p and the 1 - \
                   alpha/m interval of g are used instead.",
    rejected_if: "the 1 - alpha/m interval of the ratio lies between 1/(1 + `negligible`) and 1 + `negligible`. \
                  With `effect`, another condition replaces this one: the 1 - alpha/m interval of g lies between \
                  -`effect` and `effect`.",
    assumptions: "As in faster-than. Hedges' g also assumes that the values are roughly normal.",
    source: "Wilcoxon 1945, Biometrics Bulletin 1; Hedges 1981, Journal of Educational Statistics 6",
    keys: &[FIRST, SECOND, AT, STATISTIC, NEGLIGIBLE, EFFECT],
    figure_layout: FigureLayout::DIFFERENCES,
    parse: parse_keys::<DiffersKeys>,
};

/// Minimum effect size.
pub(super) const EFFECT: Key = Key {
    name: "effect",
    value_type: ValueType::Number(0.0, 1e6),
    requirement: Requirement::Optional("any"),
    about: "smallest effect that counts as a difference, as the absolute value of Hedges' g; 0.8 is considered large",
    example: "0.8",
};

/// Keys of tests for or against a difference.
#[derive(Debug)]
pub(super) struct DifferenceKeys {
    pub(super) operands: OperandCases,
    at: ComparedAt,
    statistic: Statistic,
    /// Minimum amount of Hedges' g that counts. `None` if any difference does.
    pub(super) effect: Option<f64>,
}

impl DifferenceKeys {
    pub(super) fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self {
            operands: OperandCases::parse(keys, SecondLines::Each)?,
            at: keys.value(&AT)?,
            statistic: keys.value(&STATISTIC)?,
            effect: keys.optional(&EFFECT)?,
        })
    }
}

/// Keys of differs.
#[derive(Debug)]
struct DiffersKeys {
    difference: DifferenceKeys,
    negligible: f64,
}

impl Judge for DiffersKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        let difference = DifferenceKeys::parse(keys)?;
        Ok(Self { difference, negligible: keys.value(&NEGLIGIBLE)? })
    }

    fn evaluate(&self, claim: &Claim, cells: &Cells<'_>) -> Findings {
        let mut all = match compare_operands(claim, cells, &self.difference, None) {
            Ok(all) => all,
            Err(found) => return *found,
        };
        correct_p_values(all.iter_mut().map(|one| &mut one.part), claim.correction());
        let alphas = Alphas::new(claim, all.len(), claim.alpha());
        let parts = all.into_iter().map(|one| self.judge_comparison(claim, one, alphas));
        Findings::from_parts(parts.collect(), claim.min_fraction())
    }

    fn operands(&self) -> Option<&OperandCases> {
        Some(&self.difference.operands)
    }
}

/// Returns the comparisons for a claim: one for each pair of lines, or for each level of each pair. `margin` are the
/// ratios that it calls equivalent, if it claims equivalence.
///
/// # Errors
/// Fails with the reason if there is nothing to compare.
pub(super) fn compare_operands(
    claim: &Claim,
    cells: &Cells<'_>,
    keys: &DifferenceKeys,
    margin: Option<Bounds>,
) -> Result<Vec<ComparisonResult>, Box<Findings>> {
    let both = pair_lines(claim, &keys.operands, cells)?;
    let statistic = keys.statistic;
    if keys.at == ComparedAt::Blocks {
        let compare_pair = |pair: &LinePair<'_>| {
            let contradicts = contradiction(margin, pair, statistic);
            compare_means(pair, contradicts, statistic, &both.unit)
        };
        return Ok(both.pairs.iter().map(compare_pair).collect());
    }
    let mut all = Vec::new();
    for pair in &both.pairs {
        for (point, sides) in pair.samples_by_level() {
            all.push(compare(level_scope(&both, pair, point), &sides, statistic, &both.unit));
        }
    }
    Ok(all)
}

/// Returns a predicate for ratios at single levels that contradict a claim about the mean over levels. A ratio
/// contradicts equivalence if it is beyond the `margin`, and a difference if it is on the other side of 1.
fn contradiction(
    margin: Option<Bounds>,
    pair: &LinePair<'_>,
    statistic: Statistic,
) -> impl Fn(f64) -> bool + use<> {
    let lean =
        compare(PartScope::default(), &pair.block_means(|_| false).0, statistic, "").direction;
    move |ratio| match (margin, lean) {
        (Some(bounds), _) => !bounds.contains_value(ratio),
        (None, Direction::First) => ratio < 1.0,
        (None, Direction::Second) => ratio > 1.0,
        (None, Direction::Neither) => false,
    }
}

impl DiffersKeys {
    /// Judges one comparison.
    fn judge_comparison(&self, claim: &Claim, compared: ComparisonResult, alphas: Alphas) -> Part {
        if matches!(compared.part.verdict, Verdict::NotTestable { .. }) {
            return compared.part;
        }
        let effect = self.difference.effect;
        let is_large = effect.is_none_or(|least| {
            compared.hedges_g_at(1.0 - alphas.support).is_some_and(|g| g.is_beyond(least))
        });
        let negligible = Bounds::around_one(self.negligible);
        let is_small = match effect {
            Some(least) => compared
                .hedges_g_at(1.0 - alphas.reject)
                .is_some_and(|g| g.is_within(-least, least)),
            None => compared
                .ratio_at(1.0 - alphas.reject)
                .is_some_and(|ratio| negligible.contains_interval(&ratio)),
        };
        let (verdict, rule) = if compared.suffices(claim) && is_large {
            (Verdict::Supported, Some(DecisionRule::P))
        } else if is_small || compared.is_identical() {
            (Verdict::Rejected, Some(DecisionRule::Interval))
        } else if let Some((least, g)) = effect.zip(compared.hedges_g()) {
            let bounds = Bounds { above: Some(-least), below: Some(least) };
            (bounds.inconclusive(g, compared.part.n), None)
        } else {
            (compared.inconclusive(alphas.support, Some(negligible)), None)
        };
        compared.into_part(claim, verdict, rule)
    }
}

impl Estimate {
    /// Whether the whole interval is farther from 0 than `least`.
    fn is_beyond(&self, least: f64) -> bool {
        self.low.is_some_and(|low| low > least) || self.high.is_some_and(|high| high < -least)
    }
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::{SyntheticData, synthetic};

    const KEYS: &str = "test = \"differs\"\nfirst = { mechanism = \"pipe\" }\n\
                        second = { mechanism = \"unix-stream\" }\n";

    fn ratio(first: f64, noise: f64) -> SyntheticData {
        synthetic(12, noise, &[("pipe", &[first; 3]), ("unix-stream", &[1.0; 3])])
    }

    #[test]
    fn either_way_is_a_difference_and_none_beyond_negligible_is_none() {
        assert_eq!(ratio(0.9, 0.02).verdict_name(KEYS), "supported");
        assert_eq!(ratio(1.1, 0.02).verdict_name(KEYS), "supported");
        assert_eq!(ratio(1.0, 0.005).verdict_name(KEYS), "rejected");
        assert_eq!(ratio(1.0, 0.1).verdict_name(KEYS), "inconclusive");
    }

    #[test]
    fn an_effect_must_lie_beyond_the_one_named_with_its_interval() {
        let keys = |effect: f64| format!("{KEYS}effect = {effect}\n");
        assert_eq!(ratio(0.9, 0.02).verdict_name(&keys(0.8)), "supported");
        let g = ratio(0.9, 0.02).findings(KEYS).parts[0].estimates[1].clone();
        assert_eq!(g.name, "Hedges' g");
        let between = g.value.abs().midpoint(g.high.unwrap().abs());
        assert_eq!(ratio(0.9, 0.02).verdict_name(&keys(between)), "inconclusive");
        assert_eq!(ratio(0.9, 0.02).verdict_name(&keys(100.0)), "rejected");
    }
}
