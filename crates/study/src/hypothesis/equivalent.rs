//! equivalent: two lines of cases are alike, within a margin.

use super::compare::ComparisonResult;
use super::correction::correct_p_values;
use super::differs::{self, DifferenceKeys, compare_operands};
use super::evidence::EstimateKind;
use super::figure_layout::FigureLayout;
use super::interval::{Alphas, Bounds};
use super::key_values::{KeyError, KeyValues};
use super::operand_cases::OperandCases;
use super::shared_keys::{AT, FIRST, MARGIN, SECOND, STATISTIC};
use super::{Cells, Claim, Estimate, Findings, Judge, Part, Test, Verdict, parse_keys};
use crate::{Key, Requirement};

pub(super) const TEST: Test = Test {
    name: "equivalent",
    about: "the two sides are equal within a margin; many repetitions are needed to show this",
    estimate: "Two one-sided tests (TOST) compare the ratio of the two sides, on a logarithmic scale, with 1/(1 + \
               `margin`) and with 1 + `margin`. With `effect`, the interval of Hedges' g is used instead of the \
               two tests.",
    supported_if: "both one-sided tests have a p-value below alpha. In other words, the 1 - 2 alpha interval of \
                   the ratio lies between 1/(1 + `margin`) and 1 + `margin`. With `effect`, another condition \
                   replaces this one: the 1 - alpha interval of g lies between -`effect` and `effect`. If \
                   `min_fraction` is below 1, alpha/m replaces alpha.",
    rejected_if: "the 1 - 2 alpha/m interval of the ratio lies entirely below 1/(1 + `margin`) or entirely above 1 \
                  + `margin`. With `effect`, two other conditions replace this one: the corrected p, computed as \
                  in differs, is below alpha, and the absolute value of g is above `effect`.",
    assumptions: "The logarithms of the paired ratios are roughly normal, or there are many ratios.",
    source: "Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15",
    keys: &[FIRST, SECOND, AT, STATISTIC, MARGIN, EFFECT],
    figure_layout: FigureLayout::DIFFERENCES,
    parse: parse_keys::<EquivalentKeys>,
};

const EFFECT: Key = Key {
    requirement: Requirement::Optional("none"),
    about: "instead of `margin`: largest absolute value of Hedges' g at which the two sides count as equal; \
            0.8 is considered large",
    ..differs::EFFECT
};

/// Keys of equivalent.
#[derive(Debug)]
struct EquivalentKeys {
    difference: DifferenceKeys,
    margin: f64,
}

impl Judge for EquivalentKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self { difference: DifferenceKeys::parse(keys)?, margin: keys.value(&MARGIN)? })
    }

    fn evaluate(&self, claim: &Claim, cells: &Cells<'_>) -> Findings {
        let margin = Bounds::around_one(self.margin);
        let mut all = match compare_operands(claim, cells, &self.difference, Some(margin)) {
            Ok(all) => all,
            Err(found) => return *found,
        };
        correct_p_values(all.iter_mut().map(|one| &mut one.part), claim.correction());
        let alphas = Alphas::new(claim, all.len(), 2.0 * claim.alpha());
        let effect_alphas = Alphas::new(claim, all.len(), claim.alpha());
        let parts = all.into_iter().map(|one| match self.difference.effect {
            Some(effect) => judge_by_effect(claim, one, effect, effect_alphas),
            None => judge_by_margin(margin, one, alphas),
        });
        Findings::from_parts(parts.collect(), claim.min_fraction())
    }

    fn operands(&self) -> Option<&OperandCases> {
        Some(&self.difference.operands)
    }
}

fn judge_by_margin(bounds: Bounds, mut compared: ComparisonResult, alphas: Alphas) -> Part {
    let (verdict, ratio) = bounds.judge(|level| compared.ratio_at(level), alphas, compared.part.n);
    let verdict = match &ratio {
        Some(_) => verdict,
        None if compared.is_identical() => Verdict::Supported,
        None if compared.part.n < 2 => Verdict::UNKNOWN,
        None => Verdict::NotTestable { reason: "values of 0 or less have no ratio".to_owned() },
    };
    compared.part.estimates.retain(|one| one.kind != EstimateKind::Ratio);
    compared.part.estimates.extend(ratio);
    Part { verdict, ..compared.part }
}

fn judge_by_effect(claim: &Claim, compared: ComparisonResult, effect: f64, alphas: Alphas) -> Part {
    let g = compared.hedges_g().cloned();
    let is_within =
        compared.hedges_g_at(1.0 - alphas.support).is_some_and(|g| g.is_within(-effect, effect));
    let verdict = match &g {
        Some(_) if is_within => Verdict::Supported,
        Some(g) if compared.is_significant(claim.alpha()) && g.value.abs() > effect => {
            Verdict::Rejected
        }
        Some(g) => {
            Bounds { above: Some(-effect), below: Some(effect) }.inconclusive(g, compared.part.n)
        }
        None if compared.is_identical() => Verdict::Supported,
        None => Verdict::NotTestable { reason: "too few values for an effect size".to_owned() },
    };
    Part { verdict, ..compared.part }
}

impl Estimate {
    /// Whether the interval lies between `low` and `high`.
    pub(super) fn is_within(&self, low: f64, high: f64) -> bool {
        self.low.is_some_and(|end| end > low) && self.high.is_some_and(|end| end < high)
    }
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::{SyntheticData, synthetic};

    const KEYS: &str = "test = \"equivalent\"\nfirst = { mechanism = \"pipe\" }\n\
                        second = { mechanism = \"unix-stream\" }\n";

    fn ratio(first: f64, blocks: u32) -> SyntheticData {
        synthetic(blocks, 0.02, &[("pipe", &[first; 3]), ("unix-stream", &[1.0; 3])])
    }

    #[test]
    fn alike_within_the_margin_is_supported_and_beyond_it_rejected() {
        assert_eq!(ratio(1.03, 10).verdict_name(KEYS), "supported");
        assert_eq!(ratio(1.2, 10).verdict_name(KEYS), "rejected");
        assert_eq!(ratio(1.1, 10).verdict_name(KEYS), "inconclusive");
    }

    #[test]
    fn few_repetitions_show_no_sameness() {
        assert_eq!(ratio(1.0, 1).verdict_name(KEYS), "inconclusive");
        let same =
            |blocks| synthetic(blocks, 0.0, &[("pipe", &[1.0; 3]), ("unix-stream", &[1.0; 3])]);
        assert_eq!(same(4).verdict_name(KEYS), "inconclusive");
        assert_eq!(same(5).verdict_name(KEYS), "supported");
    }
}
