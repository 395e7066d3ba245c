//! ratio-within: the ratio of two lines of cases lies within bounds.

use super::compare::{Compared, Statistic, compare};
use super::evidence::EstimateKind;
use super::faster_than::{compare_means, named};
use super::interval::{Bounds, Sure};
use super::key_values::{KeyError, KeyValues};
use super::keys::{ABOVE, AT, BELOW, ComparedAt, FIRST, SECOND, STATISTIC};
use super::operand_cases::{OperandCases, SecondLines};
use super::operands::{Compares, Pair, compares};
use super::picture::{BetterNote, Picture};
use super::{Cells, Claim, Found, Judge, Part, Test, Verdict, parsed};

pub(super) const TEST: Test = Test {
    name: "ratio-within",
    about: "the metric of the first cases over that of the second lies above, below or between bounds",
    formula: "The geometric mean over blocks of the paired ratio, with the 1 - level interval of Student's t on \
              its logarithms; of several levels in each block that has all of them their geometric mean, or each \
              by itself. Supported where the interval lies within the bounds (that of 1 - level/m, for m parts, \
              where `need` is below 1), rejected where that of 1 - level/m lies wholly outside.",
    assumptions: "Logarithms of paired ratios are roughly normal, or there are many.",
    source: "Student 1908, Biometrika 6",
    keys: &[FIRST, SECOND, AT, STATISTIC, ABOVE, BELOW],
    picture: Picture { better: BetterNote::Hidden, ..Picture::RATIOS },
    parse: parsed::<RatioWithinKeys>,
};

/// Keys of ratio-within.
#[derive(Debug)]
struct RatioWithinKeys {
    operands: OperandCases,
    at: ComparedAt,
    statistic: Statistic,
    bounds: Bounds,
}

impl Judge for RatioWithinKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self {
            operands: OperandCases::parse(keys, SecondLines::Each)?,
            at: keys.value(&AT)?,
            statistic: keys.value(&STATISTIC)?,
            bounds: Bounds::parse(keys)?,
        })
    }

    fn find(&self, claim: &Claim, cells: &Cells<'_>) -> Found {
        let both = match compares(claim, &self.operands, cells) {
            Ok(both) => both,
            Err(found) => return *found,
        };
        let all: Vec<Compared> =
            both.pairs.iter().flat_map(|pair| self.comparisons(&both, pair)).collect();
        let sure = Sure::of(claim, all.len(), claim.level());
        let parts = all.into_iter().map(|one| part(one, self.bounds, sure)).collect();
        let mut found = Found::of(parts, claim.need());
        found.told.push(format!("the ratio must lie {}", self.bounds.words()));
        found
    }

    fn operands(&self) -> Option<&OperandCases> {
        Some(&self.operands)
    }
}

impl RatioWithinKeys {
    /// Returns the comparison of the means of `pair`, or one for each of its levels.
    fn comparisons(&self, both: &Compares<'_>, pair: &Pair<'_>) -> Vec<Compared> {
        match self.at {
            ComparedAt::Levels => {
                let levels = pair.by_level().into_iter();
                let one = |(point, sides)| {
                    compare(named(both, pair, point), &sides, self.statistic, &both.unit)
                };
                levels.map(one).collect()
            }
            ComparedAt::Blocks => {
                let is_otherwise = |ratio: f64| !self.bounds.is_inside(ratio);
                vec![compare_means(pair, is_otherwise, self.statistic, &both.unit)]
            }
        }
    }
}

fn part(mut compared: Compared, bounds: Bounds, sure: Sure) -> Part {
    let (verdict, ratio) = bounds.judge(|level| compared.ratio_at(level), sure, compared.part.n);
    let verdict = match &ratio {
        Some(_) => verdict,
        None if compared.part.n < 2 => Verdict::UNKNOWN,
        None => Verdict::NotTestable { reason: "values of 0 and below have no ratio".to_owned() },
    };
    compared.part.estimates.retain(|one| one.kind != EstimateKind::Ratio);
    compared.part.estimates.extend(ratio);
    Part { verdict, p: None, statistic: None, ..compared.part }
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::made;

    const KEYS: &str = "test = \"ratio-within\"\nfirst = { mechanism = \"pipe\" }\n\
                        second = { mechanism = \"unix-stream\" }\n";

    #[test]
    fn the_whole_interval_must_lie_within() {
        let made = made(10, 0.02, &[("pipe", &[2.0; 3]), ("unix-stream", &[1.0; 3])]);
        let word = |bounds: &str| made.word(&format!("{KEYS}{bounds}\n"));
        assert_eq!(word("above = 1.5\nbelow = 3"), "supported");
        assert_eq!(word("above = 1.5"), "supported");
        assert_eq!(word("above = 2.5"), "rejected");
        assert_eq!(word("above = 2.0"), "inconclusive");
    }

    #[test]
    fn one_repetition_shows_nothing() {
        let made = made(1, 0.02, &[("pipe", &[2.0; 3]), ("unix-stream", &[1.0; 3])]);
        assert_eq!(made.word(&format!("{KEYS}above = 1.5\n")), "inconclusive");
    }
}
