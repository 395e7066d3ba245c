//! Comparison of two samples: p-value, effect size and the repetitions that would settle it.

use ipcperf_stats::{
    Alternative, Degenerate, Design, Method, TestResult, Zeros, cliffs_delta, hedges_g,
    mann_whitney, median, needed_n, paired_hedges_g, paired_ratio, paired_t, rank_biserial,
    ratio_of_geometric_means, student_t, welch_t, wilcoxon,
};

use super::evidence::{EstimateKind, PartScope};
use super::interval::Bounds;
use super::key_values::KeyChoice;
use super::{Claim, DecisionRule, Estimate, Part, Point, Verdict};

/// Statistical power for which needed repetitions are computed.
const POWER: f64 = 0.8;
/// Confidence level of intervals.
const CONFIDENCE: f64 = 0.95;
/// Maximum number of differences for which Wilcoxon's test uses the permutation distribution, which is exact also with
/// ties and zeros. Above it, the method is chosen automatically.
const MAX_EXACT: usize = 500;
/// Minimum number of values from which identical ones count as evidence. Fewer say nothing about the spread.
const MIN_IDENTICAL: usize = 5;

/// Statistic for comparing two samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statistic {
    Wilcoxon,
    PairedT,
    MannWhitney,
    Student,
    Welch,
}

/// Two samples: all values, and the pairs of values from the same block.
#[derive(Clone, Debug, Default)]
pub(super) struct SamplePair {
    pub(super) first: Vec<f64>,
    pub(super) second: Vec<f64>,
    paired: [Vec<f64>; 2],
}

/// A comparison and its direction.
pub(super) struct ComparisonResult {
    pub(super) part: Part,
    pub(super) direction: Direction,
    /// Effect size (Hedges' g), for computing needed repetitions.
    effect: Option<f64>,
    statistic: Statistic,
    samples: SamplePair,
}

/// The larger sample according to the test statistic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    First,
    Second,
    Neither,
}

impl KeyChoice for Statistic {
    fn from_choice(word: &str) -> Option<Self> {
        match word {
            "wilcoxon" => Some(Self::Wilcoxon),
            "paired-t" => Some(Self::PairedT),
            "mann-whitney" => Some(Self::MannWhitney),
            "student" => Some(Self::Student),
            "welch" => Some(Self::Welch),
            _ => None,
        }
    }
}

impl Statistic {
    const fn is_paired(self) -> bool {
        matches!(self, Self::Wilcoxon | Self::PairedT)
    }

    /// Returns the symbol of the test statistic.
    const fn symbol(self) -> &'static str {
        match self {
            Self::Wilcoxon => "W",
            Self::MannWhitney => "U",
            Self::PairedT | Self::Student | Self::Welch => "t",
        }
    }

    /// Runs the test on `sides`.
    pub(super) fn test(
        self,
        sides: &SamplePair,
        alternative: Alternative,
    ) -> Result<TestResult, Degenerate> {
        let [first, second] = &sides.paired;
        match self {
            Self::Wilcoxon => {
                let differences = sides.differences();
                let is_few = differences.len() <= MAX_EXACT;
                let method = if is_few { Method::Permutation } else { Method::Auto };
                wilcoxon(&differences, alternative, Zeros::Drop, method)
            }
            Self::PairedT => paired_t(first, second, alternative),
            Self::MannWhitney => {
                mann_whitney(&sides.first, &sides.second, alternative, Method::Auto)
            }
            Self::Student => student_t(&sides.first, &sides.second, alternative),
            Self::Welch => welch_t(&sides.first, &sides.second, alternative),
        }
    }

    fn direction(self, sides: &SamplePair) -> Direction {
        let sign = match self {
            Self::Wilcoxon => rank_biserial(&sides.differences()).ok(),
            Self::MannWhitney => cliffs_delta(&sides.first, &sides.second),
            Self::PairedT => Some(sum(&sides.differences())),
            Self::Student | Self::Welch => Some(mean(&sides.first) - mean(&sides.second)),
        };
        match sign {
            Some(sign) if sign > 0.0 => Direction::First,
            Some(sign) if sign < 0.0 => Direction::Second,
            _ => Direction::Neither,
        }
    }
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

#[allow(clippy::cast_precision_loss, reason = "a number of values")]
fn mean(values: &[f64]) -> f64 {
    sum(values) / values.len().max(1) as f64
}

impl SamplePair {
    /// Collects the values of two points.
    pub(super) fn from_points(first: &Point, second: &Point) -> Self {
        let pairs = first.paired_values(second);
        Self { first: first.all_values(), second: second.all_values(), paired: unzip_pairs(&pairs) }
    }

    /// Uses only the values of `pairs`.
    pub(super) fn from_pairs(pairs: &[(f64, f64)]) -> Self {
        let paired = unzip_pairs(pairs);
        Self { first: paired[0].clone(), second: paired[1].clone(), paired }
    }

    /// Returns the series that tests assume to be independent, block by block: logarithms of the paired ratios, or
    /// differences if a value is not positive.
    pub(super) fn series(&self) -> Vec<f64> {
        let [first, second] = &self.paired;
        if first.iter().chain(second).all(|value| *value > 0.0) {
            first.iter().zip(second).map(|(one, other)| (one / other).ln()).collect()
        } else {
            self.differences()
        }
    }

    fn differences(&self) -> Vec<f64> {
        self.paired[0].iter().zip(&self.paired[1]).map(|(first, second)| first - second).collect()
    }

    /// Returns the sample size: number of pairs, or size of the smaller sample.
    pub(super) fn n(&self, statistic: Statistic) -> usize {
        if statistic.is_paired() {
            self.paired[0].len()
        } else {
            self.first.len().min(self.second.len())
        }
    }

    /// Returns the ratio of first to second, with its interval at confidence `alpha`, computed on a logarithmic scale.
    pub(super) fn ratio(&self, statistic: Statistic, level: f64) -> Option<Estimate> {
        let ratio = if statistic.is_paired() {
            paired_ratio(&self.paired[0], &self.paired[1], level)
        } else {
            ratio_of_geometric_means(&self.first, &self.second, level)
        };
        let ratio = ratio.ok()?;
        let is_known = ratio.high != ratio.low || self.n(statistic) >= MIN_IDENTICAL;
        let [low, high] = [ratio.low, ratio.high].map(|end| end.filter(|_| is_known));
        Some(Estimate::new(EstimateKind::Ratio, ratio.ratio, level).with_interval(low, high))
    }

    /// Returns Hedges' g with its interval at confidence `alpha`.
    pub(super) fn hedges_g(&self, statistic: Statistic, level: f64) -> Option<Estimate> {
        let g = if statistic.is_paired() {
            paired_hedges_g(&self.paired[0], &self.paired[1], level)
        } else {
            hedges_g(&self.first, &self.second, level)
        };
        let g = g.ok()?;
        let (low, high) = (Some(g.interval.low), Some(g.interval.high));
        Some(Estimate::new(EstimateKind::HedgesG, g.g, level).with_interval(low, high))
    }
}

fn unzip_pairs(pairs: &[(f64, f64)]) -> [Vec<f64>; 2] {
    [pairs.iter().map(|pair| pair.0).collect(), pairs.iter().map(|pair| pair.1).collect()]
}

/// Compares `sides` by `statistic`. The verdict is left open, unless they cannot be compared.
pub(super) fn compare(
    place: PartScope,
    sides: &SamplePair,
    statistic: Statistic,
    unit: &str,
) -> ComparisonResult {
    let mut part = Part::new(place, sides.n(statistic));
    part.unit = unit.to_owned();
    part.medians =
        [&sides.first, &sides.second].into_iter().filter_map(|side| median(side)).collect();
    part.estimates.extend(sides.ratio(statistic, CONFIDENCE));
    part.estimates.extend(sides.hedges_g(statistic, CONFIDENCE));
    part.series = vec![sides.series()];
    match statistic.test(sides, Alternative::TwoSided) {
        Ok(tested) => {
            part.statistic = Some((statistic.symbol().to_owned(), tested.statistic));
            part.p = Some(tested.p_value);
        }
        // The test is degenerate because the samples do not differ.
        Err(Degenerate::AllZero | Degenerate::NoSpread | Degenerate::Tied)
            if statistic.direction(sides) == Direction::Neither =>
        {
            part.p = Some(1.0);
        }
        Err(why) => part.verdict = Verdict::NotTestable { reason: why.to_string() },
    }
    let effect = part.estimate(EstimateKind::HedgesG).map(|one| one.value);
    ComparisonResult {
        part,
        direction: statistic.direction(sides),
        effect,
        statistic,
        samples: sides.clone(),
    }
}

impl ComparisonResult {
    /// Whether its corrected p-value is below `alpha`.
    pub(super) fn is_significant(&self, alpha: f64) -> bool {
        self.part.p_corrected.is_some_and(|p| p < alpha)
    }

    /// Whether its p-value suffices to support `claim`. The p-value is corrected unless all parts must hold.
    pub(super) fn suffices(&self, claim: &Claim) -> bool {
        let p = if claim.needs_all() { self.part.p } else { self.part.p_corrected };
        p.is_some_and(|p| p < claim.alpha())
    }

    /// Returns its part with `verdict`, decided by `rule`. If the p-value and the interval of the ratio disagree about
    /// a difference, the part gets a note: they come from different methods.
    pub(super) fn into_part(
        self,
        claim: &Claim,
        verdict: Verdict,
        rule: Option<DecisionRule>,
    ) -> Part {
        let ends = self.ratio_at(1.0 - claim.alpha()).and_then(|ratio| ratio.low.zip(ratio.high));
        let by_interval = ends.map(|(low, high)| low > 1.0 || high < 1.0);
        let by_p = self.part.p.map(|p| p < claim.alpha());
        let mut part = Part { verdict, decided_by: rule, ..self.part };
        if let (Some(DecisionRule::P), Some((true, false) | (false, true))) =
            (rule, by_p.zip(by_interval))
        {
            part.add_note(
                "the p-value and the interval come from different methods and disagree; the p-value decides",
            );
        }
        part
    }

    /// Returns the ratio of first to second.
    pub(super) fn ratio(&self) -> Option<&Estimate> {
        self.part.estimate(EstimateKind::Ratio)
    }

    /// Returns Hedges' g.
    pub(super) fn hedges_g(&self) -> Option<&Estimate> {
        self.part.estimate(EstimateKind::HedgesG)
    }

    /// Returns Hedges' g with an interval at confidence `alpha`.
    pub(super) fn hedges_g_at(&self, level: f64) -> Option<Estimate> {
        self.samples.hedges_g(self.statistic, level)
    }

    /// Returns the ratio of first to second with an interval at confidence `alpha`.
    pub(super) fn ratio_at(&self, level: f64) -> Option<Estimate> {
        self.samples.ratio(self.statistic, level)
    }

    /// Whether all values of both samples are identical, and there are too many of them for coincidence.
    pub(super) fn is_identical(&self) -> bool {
        let SamplePair { first, second, .. } = &self.samples;
        let mut all = first.iter().chain(second);
        let one = all.next();
        self.part.n >= MIN_IDENTICAL && all.all(|other| Some(other) == one)
    }

    /// Returns an inconclusive verdict with the repetitions needed to show either the difference at `alpha` or that it
    /// is within `negligible`.
    pub(super) fn inconclusive(&self, alpha: f64, negligible: Option<Bounds>) -> Verdict {
        let for_difference = self.needed_repetitions(alpha);
        let for_equivalence = negligible.zip(self.ratio()).and_then(|(bounds, ratio)| {
            let is_inside = bounds.above.is_none_or(|above| ratio.value > above)
                && bounds.below.is_none_or(|below| ratio.value < below);
            is_inside.then(|| bounds.needed_repetitions(ratio, self.part.n)).flatten()
        });
        let needed = [for_difference, for_equivalence].into_iter().flatten().min();
        Verdict::inconclusive(needed, self.ratio().map(|ratio| ratio.obstacle(1.0)))
    }

    /// Returns the repetitions needed to show an effect of this size at `alpha` with a power of 80 %, or `u64::MAX` if
    /// no number suffices. `None` if the effect size is unknown.
    pub(super) fn needed_repetitions(&self, alpha: f64) -> Option<u64> {
        let needed = self.statistic.needed_repetitions(self.effect?, alpha, Alternative::TwoSided);
        Some(needed.map_or(u64::MAX, |needed| needed.max(self.part.n + 1) as u64))
    }
}

impl Statistic {
    /// Returns the repetitions needed to show `effect`, regardless of its sign, at `alpha` with a power of 80 %. `None`
    /// if even millions do not suffice. A one-sided test is [`Alternative::Greater`].
    pub(super) fn needed_repetitions(
        self,
        effect: f64,
        alpha: f64,
        alternative: Alternative,
    ) -> Option<usize> {
        let design = match self {
            Self::Wilcoxon => Design::PairedWilcoxon,
            Self::PairedT => Design::PairedT,
            Self::MannWhitney | Self::Student | Self::Welch => Design::TwoSampleT,
        };
        let needed = needed_n(design, effect.abs(), alpha, POWER, alternative).ok()?;
        // With n signs, the rarest outcome has probability 2^-n on each side, which limits the smallest p-value.
        let sides = if alternative == Alternative::TwoSided { 2.0 } else { 1.0 };
        let signs = (2..64).find(|n| sides * 0.5_f64.powi(*n) < alpha)?;
        let min_n = if self == Self::Wilcoxon { usize::try_from(signs).ok()? } else { 2 };
        Some(needed.max(min_n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(pairs: &[(f64, f64)], statistic: Statistic) -> ComparisonResult {
        compare(PartScope::from_line("part"), &SamplePair::from_pairs(pairs), statistic, "")
    }

    #[test]
    fn what_always_differs_by_the_same_is_not_alike() {
        let pairs = [(3.0, 5.0); 8];
        let constant = compared(&pairs, Statistic::Welch);
        assert!(
            matches!(constant.part.verdict, Verdict::NotTestable { .. }),
            "{:?}",
            constant.part
        );
        assert_eq!(constant.part.p, None);
        let signs = compared(&pairs, Statistic::Wilcoxon);
        assert_eq!(signs.part.p, Some(2.0 / 256.0));
        assert!(!signs.is_identical());
    }

    #[test]
    fn what_does_not_differ_by_a_bit_has_a_p_of_one() {
        for statistic in [Statistic::Wilcoxon, Statistic::PairedT, Statistic::Student] {
            let alike = compared(&[(3.0, 3.0); 6], statistic);
            assert_eq!((alike.part.p, alike.is_identical()), (Some(1.0), true), "{statistic:?}");
        }
        assert!(!compared(&[(3.0, 3.0); 4], Statistic::Wilcoxon).is_identical());
    }

    #[test]
    fn an_interval_without_width_is_none_of_few_values() {
        let ends = |n| {
            let ratio = compared(&vec![(2.0, 1.0); n], Statistic::Wilcoxon).ratio().cloned();
            ratio.and_then(|ratio| ratio.low.zip(ratio.high))
        };
        assert_eq!(ends(4), None);
        assert_eq!(ends(5), Some((2.0, 2.0)));
    }

    #[test]
    fn tied_differences_are_counted_not_approximated() {
        let differences = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 4.0, 4.0, 5.0, 5.0];
        let pairs: Vec<(f64, f64)> = differences.iter().map(|one| (10.0 + one, 10.0)).collect();
        let p = compared(&pairs, Statistic::Wilcoxon).part.p;
        assert_eq!(p, Some(2.0 * 0.5_f64.powi(14)));
    }

    #[test]
    fn no_effect_however_large_shows_by_fewer_signs_than_there_must_be() {
        let two_sided = Alternative::TwoSided;
        assert_eq!(Statistic::Wilcoxon.needed_repetitions(50.0, 0.05, two_sided), Some(6));
        assert_eq!(Statistic::Wilcoxon.needed_repetitions(50.0, 0.05 / 16.0, two_sided), Some(10));
        assert_eq!(Statistic::Wilcoxon.needed_repetitions(1e-6, 0.05, two_sided), None);
    }
}
