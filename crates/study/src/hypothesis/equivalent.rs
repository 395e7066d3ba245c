//! equivalent: two lines of cases are alike, within a margin.

use super::compare::{Compared, correct};
use super::differs::{DifferenceKeys, EFFECT, comparisons};
use super::evidence::EstimateKind;
use super::interval::{Bounds, Sure};
use super::key_values::{KeyError, KeyValues};
use super::keys::{AT, FIRST, MARGIN, SECOND, STATISTIC};
use super::operand_cases::OperandCases;
use super::picture::Picture;
use super::{Cells, Claim, Estimate, Found, Judge, Part, Test, Verdict, parsed};

pub(super) const TEST: Test = Test {
    name: "equivalent",
    about: "the first cases and the second are alike, within a margin: few samples show nothing",
    formula: "Two one-sided tests (TOST) of the ratio on a logarithmic scale at the level, which is the same \
              as its 1 - 2 level interval within 1/(1 + margin) to 1 + margin: supported. Rejected where the \
              1 - 2 level/m interval, for m parts, lies wholly outside. With `effect`, by Hedges' g instead: \
              supported where its 1 - level interval lies within, rejected where the two differ with corrected p \
              below the level and |g| above it. Where `need` is below 1, m divides the level that supports, too.",
    assumptions: "Logarithms of paired ratios are roughly normal, or there are many.",
    source: "Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15",
    keys: &[FIRST, SECOND, AT, STATISTIC, MARGIN, EFFECT],
    picture: Picture::DIFFERENCES,
    parse: parsed::<EquivalentKeys>,
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

    fn find(&self, claim: &Claim, cells: &Cells<'_>) -> Found {
        let margin = Bounds::around_one(self.margin);
        let mut all = match comparisons(claim, cells, &self.difference, Some(margin)) {
            Ok(all) => all,
            Err(found) => return *found,
        };
        correct(&mut all, claim.correction());
        let sure = Sure::of(claim, all.len(), 2.0 * claim.level());
        let of_effect = Sure::of(claim, all.len(), claim.level());
        let parts = all.into_iter().map(|one| match self.difference.effect {
            Some(effect) => by_effect(claim, one, effect, of_effect),
            None => by_margin(margin, one, sure),
        });
        Found::of(parts.collect(), claim.need())
    }

    fn operands(&self) -> Option<&OperandCases> {
        Some(&self.difference.operands)
    }
}

fn by_margin(bounds: Bounds, mut compared: Compared, sure: Sure) -> Part {
    let (verdict, ratio) = bounds.judge(|level| compared.ratio_at(level), sure, compared.part.n);
    let verdict = match &ratio {
        Some(_) => verdict,
        None if compared.is_identical() => Verdict::Supported,
        None if compared.part.n < 2 => Verdict::UNKNOWN,
        None => Verdict::NotTestable { reason: "values of 0 and below have no ratio".to_owned() },
    };
    compared.part.estimates.retain(|one| one.kind != EstimateKind::Ratio);
    compared.part.estimates.extend(ratio);
    Part { verdict, ..compared.part }
}

fn by_effect(claim: &Claim, compared: Compared, effect: f64, sure: Sure) -> Part {
    let g = compared.hedges().cloned();
    let is_within =
        compared.hedges_at(1.0 - sure.supports).is_some_and(|g| g.lies_within(-effect, effect));
    let verdict = match &g {
        Some(_) if is_within => Verdict::Supported,
        Some(g) if compared.is_significant(claim.level()) && g.value.abs() > effect => {
            Verdict::Rejected
        }
        Some(g) => Bounds { above: Some(-effect), below: Some(effect) }.open(g, compared.part.n),
        None if compared.is_identical() => Verdict::Supported,
        None => Verdict::NotTestable { reason: "too few values have an effect size".to_owned() },
    };
    Part { verdict, ..compared.part }
}

impl Estimate {
    /// Whether the interval lies between `low` and `high`.
    pub(super) fn lies_within(&self, low: f64, high: f64) -> bool {
        self.low.is_some_and(|end| end > low) && self.high.is_some_and(|end| end < high)
    }
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::{Made, made};

    const KEYS: &str = "test = \"equivalent\"\nfirst = { mechanism = \"pipe\" }\n\
                        second = { mechanism = \"unix-stream\" }\n";

    fn ratio(first: f64, blocks: u32) -> Made {
        made(blocks, 0.02, &[("pipe", &[first; 3]), ("unix-stream", &[1.0; 3])])
    }

    #[test]
    fn alike_within_the_margin_is_supported_and_beyond_it_rejected() {
        assert_eq!(ratio(1.03, 10).word(KEYS), "supported");
        assert_eq!(ratio(1.2, 10).word(KEYS), "rejected");
        assert_eq!(ratio(1.1, 10).word(KEYS), "inconclusive");
    }

    #[test]
    fn few_repetitions_show_no_sameness() {
        assert_eq!(ratio(1.0, 1).word(KEYS), "inconclusive");
        let same = |blocks| made(blocks, 0.0, &[("pipe", &[1.0; 3]), ("unix-stream", &[1.0; 3])]);
        assert_eq!(same(4).word(KEYS), "inconclusive");
        assert_eq!(same(5).word(KEYS), "supported");
    }
}
