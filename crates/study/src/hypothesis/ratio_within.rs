//! ratio-within: the ratio of two lines of cases lies within bounds.

use super::compare::{ComparisonResult, Statistic, compare};
use super::evidence::EstimateKind;
use super::faster_than::{compare_means, level_scope};
use super::figure_layout::{BetterNote, FigureLayout};
use super::interval::{Alphas, Bounds};
use super::key_values::{KeyError, KeyValues};
use super::operand_cases::{OperandCases, SecondLines};
use super::operands::{LinePair, PairedLines, pair_lines};
use super::shared_keys::{ABOVE, AT, BELOW, ComparedAt, FIRST, SECOND, STATISTIC};
use super::{Cells, Claim, Findings, Judge, Part, Test, Verdict, parse_keys};

pub(super) const TEST: Test = Test {
    name: "ratio-within",
    about: "the ratio of the first side to the second is above, below or between bounds",
    estimate: "In each block, each side has one value. If there are several levels, this value is the geometric \
               mean over all levels, and only blocks that have all levels are used. With `at = \"levels\"`, each \
               level is compared separately instead. The estimate is the geometric mean over blocks of the ratio \
               of the two sides. Its interval is computed by Student's t on the logarithms of the ratios. If \
               `statistic` ignores blocks, the estimate is the ratio of the geometric means of the two sides, with \
               an interval by Welch's t on the logarithms of the values. The keys `above` and `below` set the \
               bounds.",
    supported_if: "the 1 - alpha interval lies within the bounds. If `min_fraction` is below 1, the 1 - alpha/m \
                   interval is used.",
    rejected_if: "the 1 - alpha/m interval lies entirely outside the bounds.",
    assumptions: "The logarithms of the paired ratios are roughly normal, or there are many ratios.",
    source: "Student 1908, Biometrika 6",
    keys: &[FIRST, SECOND, AT, STATISTIC, ABOVE, BELOW],
    figure_layout: FigureLayout { better: BetterNote::Hidden, ..FigureLayout::RATIOS },
    parse: parse_keys::<RatioWithinKeys>,
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

    fn evaluate(&self, claim: &Claim, cells: &Cells<'_>) -> Findings {
        let both = match pair_lines(claim, &self.operands, cells) {
            Ok(both) => both,
            Err(found) => return *found,
        };
        let all: Vec<ComparisonResult> =
            both.pairs.iter().flat_map(|pair| self.compare_pair(&both, pair)).collect();
        let alphas = Alphas::new(claim, all.len(), claim.alpha());
        let parts = all.into_iter().map(|one| judge_comparison(one, self.bounds, alphas)).collect();
        let mut found = Findings::from_parts(parts, claim.min_fraction());
        found.remarks.push(format!("the ratio must be {}", self.bounds.description()));
        found
    }

    fn operands(&self) -> Option<&OperandCases> {
        Some(&self.operands)
    }
}

impl RatioWithinKeys {
    /// Returns the comparison of the means of `pair`, or one for each of its levels.
    fn compare_pair(&self, both: &PairedLines<'_>, pair: &LinePair<'_>) -> Vec<ComparisonResult> {
        match self.at {
            ComparedAt::Levels => {
                let levels = pair.samples_by_level().into_iter();
                let compare_level = |(point, sides)| {
                    compare(level_scope(both, pair, point), &sides, self.statistic, &both.unit)
                };
                levels.map(compare_level).collect()
            }
            ComparedAt::Blocks => {
                let contradicts = |ratio: f64| !self.bounds.contains_value(ratio);
                vec![compare_means(pair, contradicts, self.statistic, &both.unit)]
            }
        }
    }
}

fn judge_comparison(mut compared: ComparisonResult, bounds: Bounds, alphas: Alphas) -> Part {
    let (verdict, ratio) = bounds.judge(|level| compared.ratio_at(level), alphas, compared.part.n);
    let verdict = match &ratio {
        Some(_) => verdict,
        None if compared.part.n < 2 => Verdict::UNKNOWN,
        None => Verdict::NotTestable { reason: "values of 0 or less have no ratio".to_owned() },
    };
    compared.part.estimates.retain(|one| one.kind != EstimateKind::Ratio);
    compared.part.estimates.extend(ratio);
    Part { verdict, p: None, statistic: None, ..compared.part }
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::synthetic;

    const KEYS: &str = "test = \"ratio-within\"\nfirst = { mechanism = \"pipe\" }\n\
                        second = { mechanism = \"unix-stream\" }\n";

    #[test]
    fn the_whole_interval_must_lie_within() {
        let data = synthetic(10, 0.02, &[("pipe", &[2.0; 3]), ("unix-stream", &[1.0; 3])]);
        let word = |bounds: &str| data.verdict_name(&format!("{KEYS}{bounds}\n"));
        assert_eq!(word("above = 1.5\nbelow = 3"), "supported");
        assert_eq!(word("above = 1.5"), "supported");
        assert_eq!(word("above = 2.5"), "rejected");
        assert_eq!(word("above = 2.0"), "inconclusive");
    }

    #[test]
    fn one_repetition_shows_nothing() {
        let data = synthetic(1, 0.02, &[("pipe", &[2.0; 3]), ("unix-stream", &[1.0; 3])]);
        assert_eq!(data.verdict_name(&format!("{KEYS}above = 1.5\n")), "inconclusive");
    }
}
