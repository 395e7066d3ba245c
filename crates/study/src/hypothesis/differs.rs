//! differs: two lines of cases differ in either direction.

use super::compare::{Compared, Lean, Statistic, compare, correct};
use super::evidence::Place;
use super::faster_than::{compare_means, named};
use super::interval::{Bounds, Sure};
use super::key_values::{KeyError, KeyValues};
use super::keys::{AT, ComparedAt, FIRST, NEGLIGIBLE, SECOND, STATISTIC};
use super::operand_cases::{OperandCases, SecondLines};
use super::operands::{Pair, compares};
use super::picture::Picture;
use super::{Cells, Claim, Estimate, Found, Judge, Part, Rule, Test, Verdict, parsed};
use crate::{Key, Need, Takes};

pub(super) const TEST: Test = Test {
    name: "differs",
    about: "the first cases differ from the second, whichever is the better",
    formula: "As faster-than, without a direction: supported where p lies below the level (corrected over the \
              parts where `need` is below 1) and, where `effect` is given, the 1 - level interval of Hedges' g \
              beyond it (1 - level/m for m parts where `need` is below 1); rejected where the 1 - level interval \
              of the ratio (1 - level/m for m parts) lies within negligible of 1 or, where `effect` is given, \
              that of g within it.",
    assumptions: "As faster-than. Hedges' g supposes values that are roughly normal.",
    source: "Wilcoxon 1945, Biometrics Bulletin 1; Hedges 1981, Journal of Educational Statistics 6",
    keys: &[FIRST, SECOND, AT, STATISTIC, NEGLIGIBLE, EFFECT],
    picture: Picture::DIFFERENCES,
    parse: parsed::<DiffersKeys>,
};

/// Minimum effect size.
pub(super) const EFFECT: Key = Key {
    name: "effect",
    takes: Takes::Number(0.0, 1e6),
    need: Need::Optional("any"),
    about: "the least amount of Hedges' g that counts; 0.8 is called large",
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

    fn find(&self, claim: &Claim, cells: &Cells<'_>) -> Found {
        let mut all = match comparisons(claim, cells, &self.difference, None) {
            Ok(all) => all,
            Err(found) => return *found,
        };
        correct(&mut all, claim.correction());
        let sure = Sure::of(claim, all.len(), claim.level());
        let parts = all.into_iter().map(|one| self.part(claim, one, sure));
        Found::of(parts.collect(), claim.need())
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
pub(super) fn comparisons(
    claim: &Claim,
    cells: &Cells<'_>,
    keys: &DifferenceKeys,
    margin: Option<Bounds>,
) -> Result<Vec<Compared>, Box<Found>> {
    let both = compares(claim, &keys.operands, cells)?;
    let statistic = keys.statistic;
    if keys.at == ComparedAt::Blocks {
        let one = |pair: &Pair<'_>| {
            let is_otherwise = otherwise(margin, pair, statistic);
            compare_means(pair, is_otherwise, statistic, &both.unit)
        };
        return Ok(both.pairs.iter().map(one).collect());
    }
    let mut all = Vec::new();
    for pair in &both.pairs {
        for (point, sides) in pair.by_level() {
            all.push(compare(named(&both, pair, point), &sides, statistic, &both.unit));
        }
    }
    Ok(all)
}

/// Returns a predicate for ratios at single levels that contradict a claim about the mean over levels. A ratio
/// contradicts equivalence if it is beyond the `margin`, and a difference if it is on the other side of 1.
fn otherwise(
    margin: Option<Bounds>,
    pair: &Pair<'_>,
    statistic: Statistic,
) -> impl Fn(f64) -> bool + use<> {
    let lean = compare(Place::default(), &pair.by_block(|_| false).0, statistic, "").lean;
    move |ratio| match (margin, lean) {
        (Some(bounds), _) => !bounds.is_inside(ratio),
        (None, Lean::First) => ratio < 1.0,
        (None, Lean::Second) => ratio > 1.0,
        (None, Lean::Neither) => false,
    }
}

impl DiffersKeys {
    /// Judges one comparison.
    fn part(&self, claim: &Claim, compared: Compared, sure: Sure) -> Part {
        if matches!(compared.part.verdict, Verdict::NotTestable { .. }) {
            return compared.part;
        }
        let effect = self.difference.effect;
        let is_large = effect.is_none_or(|least| {
            compared.hedges_at(1.0 - sure.supports).is_some_and(|g| g.lies_beyond(least))
        });
        let negligible = Bounds::around_one(self.negligible);
        let is_small = match effect {
            Some(least) => {
                compared.hedges_at(1.0 - sure.rejects).is_some_and(|g| g.lies_within(-least, least))
            }
            None => {
                compared.ratio_at(1.0 - sure.rejects).is_some_and(|ratio| negligible.holds(&ratio))
            }
        };
        let (verdict, rule) = if compared.suffices(claim) && is_large {
            (Verdict::Supported, Some(Rule::P))
        } else if is_small || compared.is_identical() {
            (Verdict::Rejected, Some(Rule::Interval))
        } else if let Some((least, g)) = effect.zip(compared.hedges()) {
            let bounds = Bounds { above: Some(-least), below: Some(least) };
            (bounds.open(g, compared.part.n), None)
        } else {
            (compared.open(sure.supports, Some(negligible)), None)
        };
        compared.decided(claim, verdict, rule)
    }
}

impl Estimate {
    /// Whether the whole interval is farther from 0 than `least`.
    fn lies_beyond(&self, least: f64) -> bool {
        self.low.is_some_and(|low| low > least) || self.high.is_some_and(|high| high < -least)
    }
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::{Made, made};

    const KEYS: &str = "test = \"differs\"\nfirst = { mechanism = \"pipe\" }\n\
                        second = { mechanism = \"unix-stream\" }\n";

    fn ratio(first: f64, noise: f64) -> Made {
        made(12, noise, &[("pipe", &[first; 3]), ("unix-stream", &[1.0; 3])])
    }

    #[test]
    fn either_way_is_a_difference_and_none_beyond_negligible_is_none() {
        assert_eq!(ratio(0.9, 0.02).word(KEYS), "supported");
        assert_eq!(ratio(1.1, 0.02).word(KEYS), "supported");
        assert_eq!(ratio(1.0, 0.005).word(KEYS), "rejected");
        assert_eq!(ratio(1.0, 0.1).word(KEYS), "inconclusive");
    }

    #[test]
    fn an_effect_must_lie_beyond_the_one_named_with_its_interval() {
        let keys = |effect: f64| format!("{KEYS}effect = {effect}\n");
        assert_eq!(ratio(0.9, 0.02).word(&keys(0.8)), "supported");
        let g = ratio(0.9, 0.02).found(KEYS).parts[0].estimates[1].clone();
        assert_eq!(g.name, "Hedges' g");
        let between = g.value.abs().midpoint(g.high.unwrap().abs());
        assert_eq!(ratio(0.9, 0.02).word(&keys(between)), "inconclusive");
        assert_eq!(ratio(0.9, 0.02).word(&keys(100.0)), "rejected");
    }
}
