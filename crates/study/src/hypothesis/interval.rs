//! Verdicts by interval: it lies within bounds, entirely outside, or on a bound.

use ipcperf_stats::{Bootstrap, median};

use super::evidence::EstimateKind;
use super::key_values::{KeyError, KeyValues};
use super::shared_keys::{ABOVE, BELOW};
use super::verdict::{Obstacle, Tendency};
use super::{Claim, Correction, Estimate, Verdict};

/// Half-width, as a share of the bound, above which an interval counts as wide. Then noise prevents a verdict, not the
/// location of the effect.
const WIDE: f64 = 0.1;
/// Factor by which a 95 % interval must be narrower than one that just reaches a bound, so that four in five such
/// intervals stay clear of the bound: (1.960 + 0.842) / 1.960.
const CLEARANCE: f64 = 1.43;

/// A range that may be unbounded on either side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) above: Option<f64>,
    pub(super) below: Option<f64>,
}

/// Error probabilities with which a part of a claim is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Alphas {
    /// For the reported interval.
    pub(super) reported: f64,
    /// For support. If every part must hold, no correction is needed (Berger 1982). If some of the parts suffice, one
    /// false positive can decide the claim, so the probability is divided (Bonferroni).
    pub(super) support: f64,
    /// For rejection. One part suffices to reject the claim, so the probability is divided (Bonferroni).
    pub(super) reject: f64,
    /// For support of a level, if not all levels of its part must hold.
    support_some_levels: f64,
}

impl Alphas {
    /// Returns the probabilities for each of the `parts` of `claim`. `alpha` is the uncorrected error probability of an
    /// interval.
    pub(super) fn new(claim: &Claim, parts: usize, alpha: f64) -> Self {
        Self::with_levels(claim, (parts, 1), alpha)
    }

    /// Returns the probabilities for each level of each of the `parts` of `claim`. All levels of a part must hold.
    pub(super) fn with_levels(claim: &Claim, (parts, levels): (usize, usize), alpha: f64) -> Self {
        #[allow(clippy::cast_precision_loss, reason = "a few parts")]
        let divided = |by: usize| match claim.correction() {
            Correction::None => alpha,
            Correction::Holm | Correction::BenjaminiHochberg => alpha / by.max(1) as f64,
        };
        let support_parts = if claim.needs_all() { 1 } else { parts };
        Self {
            reported: alpha,
            support: divided(support_parts),
            reject: divided(parts * levels),
            support_some_levels: divided(support_parts * levels),
        }
    }

    /// Returns the probabilities for parts in which some levels suffice, so that chance has several opportunities.
    pub(super) const fn with_some_levels(self) -> Self {
        Self { support: self.support_some_levels, ..self }
    }
}

impl Bounds {
    /// Parses the bounds of an estimate.
    pub(super) fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self { above: keys.optional(&ABOVE)?, below: keys.optional(&BELOW)? })
    }

    /// Returns bounds for ratios within `share` of 1.
    pub(super) fn around_one(share: f64) -> Self {
        Self { above: Some(1.0 / (1.0 + share)), below: Some(1.0 + share) }
    }

    /// Judges an estimate from `n` repetitions: supported if the interval for support lies within the bounds, rejected
    /// if the interval for rejection lies entirely outside. `at` returns the estimate with its interval at a confidence
    /// level. The estimate to report is returned with the verdict.
    pub(super) fn judge(
        self,
        at: impl Fn(f64) -> Option<Estimate>,
        alphas: Alphas,
        n: usize,
    ) -> (Verdict, Option<Estimate>) {
        let Some(reported) = at(1.0 - alphas.reported) else {
            return (Verdict::UNKNOWN, None);
        };
        let verdict = if at(1.0 - alphas.support).is_some_and(|one| self.contains_interval(&one)) {
            Verdict::Supported
        } else if at(1.0 - alphas.reject).is_some_and(|one| self.excludes_interval(&one)) {
            Verdict::Rejected
        } else {
            self.undecided(&reported, &at, alphas, n)
        };
        (verdict, Some(reported))
    }

    /// Returns the inconclusive verdict on an estimate. If its value lies outside the bounds and `n` repetitions are too
    /// few for an interval that could reject, the claim needs at least as many as give one. Only an interval by order
    /// statistics can be missing for this reason.
    fn undecided(
        self,
        reported: &Estimate,
        at: impl Fn(f64) -> Option<Estimate>,
        alphas: Alphas,
        n: usize,
    ) -> Verdict {
        if self.contains_value(reported.value) {
            return self.inconclusive(reported, n);
        }
        let has_interval = at(1.0 - alphas.reject).is_some_and(|one| one.low.is_some());
        let minimum = if has_interval { 0 } else { min_for_median_interval(alphas.reject) };
        let needed = self.needed_repetitions(reported, n).map(|needed| needed.max(minimum));
        Verdict::inconclusive(needed, Some(self.obstacle(reported)))
            .with_tendency(Tendency::Rejection)
    }

    /// Whether the whole interval lies within the bounds.
    pub(super) fn contains_interval(self, estimate: &Estimate) -> bool {
        estimate.low.zip(estimate.high).is_some_and(|(low, high)| {
            self.above.is_none_or(|above| low > above)
                && self.below.is_none_or(|below| high < below)
        })
    }

    /// Whether the whole interval lies outside, on one side.
    fn excludes_interval(self, estimate: &Estimate) -> bool {
        estimate.low.zip(estimate.high).is_some_and(|(low, high)| {
            self.above.is_some_and(|above| high < above)
                || self.below.is_some_and(|below| low > below)
        })
    }

    /// Returns an inconclusive verdict with the repetitions that would settle it.
    pub(super) fn inconclusive(self, estimate: &Estimate, n: usize) -> Verdict {
        Verdict::inconclusive(self.needed_repetitions(estimate, n), Some(self.obstacle(estimate)))
    }

    /// Returns the obstacle to a verdict about an estimate too close to a bound.
    fn obstacle(self, estimate: &Estimate) -> Obstacle {
        let away = |bound: &f64| (estimate.value - bound).abs();
        let bounds = [self.above, self.below].into_iter().flatten();
        let nearest = bounds.min_by(|one, other| away(one).total_cmp(&away(other)));
        estimate.obstacle(nearest.unwrap_or(1.0))
    }

    /// Returns the repetitions at which four in five intervals would no longer contain a bound. The width of an
    /// interval is inversely proportional to the square root of the number of repetitions.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of repetitions, rounded up"
    )]
    pub(super) fn needed_repetitions(self, estimate: &Estimate, n: usize) -> Option<u64> {
        let (low, high) = (estimate.low?, estimate.high?);
        let half_width = |bound: f64| {
            if bound < estimate.value { estimate.value - low } else { high - estimate.value }
        };
        let is_inside = self.contains_value(estimate.value);
        // Outside the range, only the crossed bound matters.
        let is_relevant = |is_beyond: bool| is_inside || is_beyond;
        let above = self.above.filter(|above| is_relevant(estimate.value <= *above));
        let below = self.below.filter(|below| is_relevant(estimate.value >= *below));
        let crossed = [above, below].into_iter().flatten();
        let times = crossed.map(|bound| match (estimate.value - bound).abs() {
            0.0 => f64::INFINITY,
            away => (CLEARANCE * half_width(bound) / away).powi(2),
        });
        let needed = (n as f64 * times.fold(1.0, f64::max)).ceil() + 1.0;
        // An estimate exactly on the bound would need infinitely many repetitions; the cast saturates.
        Some(needed as u64)
    }

    /// Whether `value` lies within the bounds.
    pub(super) fn contains_value(self, value: f64) -> bool {
        self.above.is_none_or(|above| value > above) && self.below.is_none_or(|below| value < below)
    }

    /// Describes the bounds: `above 1.5`, `0.9 to 1.1`.
    pub(super) fn description(self) -> String {
        match (self.above, self.below) {
            (Some(above), Some(below)) => format!("{above} to {below}"),
            (Some(above), None) => format!("above {above}"),
            (None, Some(below)) => format!("below {below}"),
            (None, None) => "anything".to_owned(),
        }
    }
}

/// Returns the least number of values from which order statistics give an interval of the median that misses it with at
/// most the probability `alpha`: all values lie on one side of the median with a probability of 2^(1 - n).
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a small number of repetitions, rounded up"
)]
fn min_for_median_interval(alpha: f64) -> u64 {
    (2.0 / alpha).log2().ceil() as u64
}

impl Estimate {
    /// Returns what makes the estimate hard to distinguish from `bound`: its spread, or otherwise that it lies there.
    pub(super) fn obstacle(&self, bound: f64) -> Obstacle {
        let scale = if bound == 0.0 { 1.0 } else { bound.abs() };
        let half_width = self.low.zip(self.high).map_or(0.0, |(low, high)| (high - low) / 2.0);
        if half_width > WIDE * scale { Obstacle::Noise } else { Obstacle::EffectAtBound }
    }
}

/// Returns the median of `values` as an estimate of `kind`, with its interval by order statistics at `level`.
pub(super) fn median_estimate(kind: EstimateKind, values: &[f64], level: f64) -> Option<Estimate> {
    let interval = Bootstrap { level, ..Bootstrap::default() }.median(values);
    let (low, high) = interval.map(|ends| (ends.low, ends.high)).unzip();
    Some(Estimate::new(kind, median(values)?, level).with_interval(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALPHAS: Alphas =
        Alphas { reported: 0.05, support: 0.05, reject: 0.01, support_some_levels: 0.01 };

    fn estimate(low: f64, value: f64, high: f64) -> Estimate {
        Estimate::new(EstimateKind::Ratio, value, 0.95).with_interval(Some(low), Some(high))
    }

    fn verdict(bounds: Bounds, low: f64, value: f64, high: f64) -> Verdict {
        bounds.judge(|_| Some(estimate(low, value, high)), ALPHAS, 10).0
    }

    #[test]
    fn within_is_supported_outside_rejected_and_on_a_bound_open() {
        let bounds = Bounds { above: Some(1.5), below: Some(3.0) };
        assert_eq!(verdict(bounds, 1.6, 2.0, 2.4), Verdict::Supported);
        assert_eq!(verdict(bounds, 1.1, 1.2, 1.4), Verdict::Rejected);
        assert_eq!(verdict(bounds, 3.1, 3.2, 3.4), Verdict::Rejected);
        // (1.43 * 0.4 / 0.2)^2 times as many repetitions, plus one.
        let open = verdict(bounds, 1.3, 1.7, 2.1);
        assert_eq!(open, Verdict::inconclusive(Some(83), None));
    }

    #[test]
    fn what_rejects_is_surer_than_what_supports() {
        let bounds = Bounds { above: None, below: Some(1.0) };
        let at = |level: f64| Some(estimate(if level > 0.97 { 0.9 } else { 1.1 }, 1.2, 1.3));
        assert_eq!(bounds.judge(at, ALPHAS, 10).0.name(), "inconclusive");
        let at = |level: f64| Some(estimate(0.7, 0.8, if level > 0.97 { 1.1 } else { 0.9 }));
        assert_eq!(bounds.judge(at, ALPHAS, 10).0, Verdict::Supported);
    }

    #[test]
    fn repetitions_are_those_of_the_bound_in_doubt() {
        let bounds = Bounds { above: Some(0.0), below: Some(2.0) };
        // Outside the range: only the near bound matters, even if the interval also extends towards the lower one.
        let open = verdict(bounds, 1.5, 2.5, 3.5);
        let contradicting = Verdict::inconclusive(Some(83), None);
        assert_eq!(open, contradicting.with_tendency(Tendency::Rejection));
        let on_it = |obstacle| Verdict::Inconclusive {
            repetitions: None,
            obstacle: Some(obstacle),
            tendency: Tendency::Rejection,
        };
        assert_eq!(verdict(bounds, 1.0, 2.0, 3.0), on_it(Obstacle::Noise));
        assert_eq!(verdict(bounds, 1.9, 2.0, 2.1), on_it(Obstacle::EffectAtBound));
        assert_eq!(verdict(bounds, 2.0, 2.0, 2.0), on_it(Obstacle::EffectAtBound));
    }

    /// A median interval with an error probability of 0.1 % exists from eleven values on.
    #[test]
    fn too_few_values_to_reject_need_as_many_as_give_an_interval() {
        let bounds = Bounds::around_one(0.1);
        let alphas = Alphas { reject: 0.001, ..ALPHAS };
        let judged = |n: usize| {
            let values = vec![1.5; n];
            let at = |level| median_estimate(EstimateKind::Ratio, &values, level);
            bounds.judge(at, alphas, n).0
        };
        let eleven = Verdict::inconclusive(Some(11), None).with_tendency(Tendency::Rejection);
        assert_eq!(judged(7), eleven);
        assert_eq!(judged(10), eleven);
        assert_eq!(judged(11), Verdict::Rejected);
    }

    #[test]
    fn five_values_have_no_interval_and_support_nothing() {
        let bounds = Bounds::around_one(0.1);
        let same = |level| median_estimate(EstimateKind::Ratio, &[1.0; 5], level);
        assert_eq!(bounds.judge(same, ALPHAS, 5).0, Verdict::UNKNOWN);
        let same = |level| median_estimate(EstimateKind::Ratio, &[1.0; 6], level);
        assert_eq!(bounds.judge(same, ALPHAS, 6).0, Verdict::Supported);
        assert_eq!(median_estimate(EstimateKind::Ratio, &[], 0.95), None);
    }
}
