//! Verdicts by an interval: it lies within bounds, wholly outside, or on a bound.

use ipcperf_stats::{Bootstrap, median};

use super::evidence::EstimateKind;
use super::outcome::Obstacle;
use super::{Claim, Correction, Estimate, Verdict};

/// An interval that reaches farther from its estimate than this share of the bound is wide: noise is what keeps it
/// from the bound, not where the effect lies.
const WIDE: f64 = 0.1;
/// A 95 % interval must be so many times narrower than one that just reaches a bound, so that four in five
/// such intervals keep clear of it: (1.960 + 0.842) / 1.960.
const CLEAR: f64 = 1.43;

/// A range that may be open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) above: Option<f64>,
    pub(super) below: Option<f64>,
}

/// The probabilities of error with which a part of a claim is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sure {
    /// Of the interval that is shown.
    pub(super) shown: f64,
    /// Of what supports: where every part must hold, none of them has to be surer for there being others
    /// (Berger 1982); where a share of them suffices, chance has several to choose from.
    pub(super) supports: f64,
    /// Of what rejects: one part suffices to reject the claim, so that each is surer (Bonferroni).
    pub(super) rejects: f64,
    /// Of what supports a level of a part where not all of its levels must hold.
    some: f64,
}

impl Sure {
    /// For each of the `parts` of `claim`, by intervals that miss the truth with probability `miss`.
    pub(super) fn of(claim: &Claim, parts: usize, miss: f64) -> Self {
        Self::within(claim, (parts, 1), miss)
    }

    /// For each of the levels of each of the `parts` of `claim`, all of which must hold for the part to.
    pub(super) fn within(claim: &Claim, (parts, levels): (usize, usize), miss: f64) -> Self {
        #[allow(clippy::cast_precision_loss, reason = "a few parts")]
        let divided = |by: usize| match claim.correction() {
            Correction::None => miss,
            Correction::Holm | Correction::BenjaminiHochberg => miss / by.max(1) as f64,
        };
        let choice = if claim.needs_all() { 1 } else { parts };
        Self {
            shown: miss,
            supports: divided(choice),
            rejects: divided(parts * levels),
            some: divided(choice * levels),
        }
    }

    /// Where not all levels of a part must hold, so that chance has several of them to choose from.
    pub(super) const fn of_some(self) -> Self {
        Self { supports: self.some, ..self }
    }
}

impl Bounds {
    /// Within `share` of 1, as ratios are.
    pub(super) fn around_one(share: f64) -> Self {
        Self { above: Some(1.0 / (1.0 + share)), below: Some(1.0 + share) }
    }

    /// Supported where the interval that supports lies within, rejected where the one that rejects lies
    /// wholly outside. `at` has the estimate with its interval at a level, from `n` repetitions; the one to
    /// be shown is told beside.
    pub(super) fn judge(
        self,
        at: impl Fn(f64) -> Option<Estimate>,
        sure: Sure,
        n: usize,
    ) -> (Verdict, Option<Estimate>) {
        let Some(shown) = at(1.0 - sure.shown) else {
            return (Verdict::UNKNOWN, None);
        };
        let verdict = if at(1.0 - sure.supports).is_some_and(|one| self.holds(&one)) {
            Verdict::Supported
        } else if at(1.0 - sure.rejects).is_some_and(|one| self.excludes(&one)) {
            Verdict::Rejected
        } else {
            self.open(&shown, n)
        };
        (verdict, Some(shown))
    }

    /// Whether all of the interval lies within.
    pub(super) fn holds(self, estimate: &Estimate) -> bool {
        estimate.low.zip(estimate.high).is_some_and(|(low, high)| {
            self.above.is_none_or(|above| low > above)
                && self.below.is_none_or(|below| high < below)
        })
    }

    /// Whether all of the interval lies outside, on one side.
    fn excludes(self, estimate: &Estimate) -> bool {
        estimate.low.zip(estimate.high).is_some_and(|(low, high)| {
            self.above.is_some_and(|above| high < above)
                || self.below.is_some_and(|below| low > below)
        })
    }

    /// Not known, with the repetitions that would settle it.
    pub(super) fn open(self, estimate: &Estimate, n: usize) -> Verdict {
        Verdict::open(self.needed(estimate, n), Some(self.obstacle(estimate)))
    }

    /// What stands in the way of an estimate that comes too close to a bound.
    fn obstacle(self, estimate: &Estimate) -> Obstacle {
        let away = |bound: &f64| (estimate.value - bound).abs();
        let bounds = [self.above, self.below].into_iter().flatten();
        let nearest = bounds.min_by(|one, other| away(one).total_cmp(&away(other)));
        estimate.obstacle(nearest.unwrap_or(1.0))
    }

    /// Repetitions at which four in five intervals would no longer hold a bound: they narrow as the root of
    /// repetitions grows.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of repetitions, rounded up"
    )]
    pub(super) fn needed(self, estimate: &Estimate, n: usize) -> Option<u64> {
        let (low, high) = (estimate.low?, estimate.high?);
        let reach = |bound: f64| {
            if bound < estimate.value { estimate.value - low } else { high - estimate.value }
        };
        let is_inside = self.is_inside(estimate.value);
        // Outside, it is one bound alone that it must keep clear of.
        let counts = |is_beyond: bool| is_inside || is_beyond;
        let above = self.above.filter(|above| counts(estimate.value <= *above));
        let below = self.below.filter(|below| counts(estimate.value >= *below));
        let crossed = [above, below].into_iter().flatten();
        let times = crossed.map(|bound| match (estimate.value - bound).abs() {
            0.0 => f64::INFINITY,
            away => (CLEAR * reach(bound) / away).powi(2),
        });
        let needed = (n as f64 * times.fold(1.0, f64::max)).ceil() + 1.0;
        // What lies on the bound would need infinitely many: as many as there are.
        Some(needed as u64)
    }

    /// Whether `value` lies within.
    pub(super) fn is_inside(self, value: f64) -> bool {
        self.above.is_none_or(|above| value > above) && self.below.is_none_or(|below| value < below)
    }

    /// In words: `above 1.5`, `0.9 to 1.1`.
    pub(super) fn words(self) -> String {
        match (self.above, self.below) {
            (Some(above), Some(below)) => format!("{above} to {below}"),
            (Some(above), None) => format!("above {above}"),
            (None, Some(below)) => format!("below {below}"),
            (None, None) => "anything".to_owned(),
        }
    }
}

impl Estimate {
    /// What stands in the way of telling it from `bound`: that it spreads, or else that it lies there.
    pub(super) fn obstacle(&self, bound: f64) -> Obstacle {
        let unit = if bound == 0.0 { 1.0 } else { bound.abs() };
        let reach = self.low.zip(self.high).map_or(0.0, |(low, high)| (high - low) / 2.0);
        if reach > WIDE * unit { Obstacle::Noise } else { Obstacle::EffectAtBound }
    }
}

/// The median of `values` with its interval by order statistics at `level`, as an estimate of `kind`.
pub(super) fn median_of(kind: EstimateKind, values: &[f64], level: f64) -> Option<Estimate> {
    let interval = Bootstrap { level, ..Bootstrap::default() }.median(values);
    let (low, high) = interval.map(|ends| (ends.low, ends.high)).unzip();
    Some(Estimate::new(kind, median(values)?, level).between(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SURE: Sure = Sure { shown: 0.05, supports: 0.05, rejects: 0.01, some: 0.01 };

    fn estimate(low: f64, value: f64, high: f64) -> Estimate {
        Estimate::new(EstimateKind::Ratio, value, 0.95).between(Some(low), Some(high))
    }

    fn verdict(bounds: Bounds, low: f64, value: f64, high: f64) -> Verdict {
        bounds.judge(|_| Some(estimate(low, value, high)), SURE, 10).0
    }

    #[test]
    fn within_is_supported_outside_rejected_and_on_a_bound_open() {
        let bounds = Bounds { above: Some(1.5), below: Some(3.0) };
        assert_eq!(verdict(bounds, 1.6, 2.0, 2.4), Verdict::Supported);
        assert_eq!(verdict(bounds, 1.1, 1.2, 1.4), Verdict::Rejected);
        assert_eq!(verdict(bounds, 3.1, 3.2, 3.4), Verdict::Rejected);
        // (1.43 * 0.4 / 0.2)^2 times as many, and one.
        let open = verdict(bounds, 1.3, 1.7, 2.1);
        assert_eq!(open, Verdict::open(Some(83), None));
    }

    #[test]
    fn what_rejects_is_surer_than_what_supports() {
        let bounds = Bounds { above: None, below: Some(1.0) };
        let at = |level: f64| Some(estimate(if level > 0.97 { 0.9 } else { 1.1 }, 1.2, 1.3));
        assert_eq!(bounds.judge(at, SURE, 10).0.word(), "inconclusive");
        let at = |level: f64| Some(estimate(0.7, 0.8, if level > 0.97 { 1.1 } else { 0.9 }));
        assert_eq!(bounds.judge(at, SURE, 10).0, Verdict::Supported);
    }

    #[test]
    fn repetitions_are_those_of_the_bound_in_doubt() {
        let bounds = Bounds { above: Some(0.0), below: Some(2.0) };
        // Outside: far from the lower bound, however near that of the interval.
        let open = verdict(bounds, 1.5, 2.5, 3.5);
        assert_eq!(open, Verdict::open(Some(83), None));
        let on_it =
            |obstacle| Verdict::Inconclusive { repetitions: None, obstacle: Some(obstacle) };
        assert_eq!(verdict(bounds, 1.0, 2.0, 3.0), on_it(Obstacle::Noise));
        assert_eq!(verdict(bounds, 1.9, 2.0, 2.1), on_it(Obstacle::EffectAtBound));
        assert_eq!(verdict(bounds, 2.0, 2.0, 2.0), on_it(Obstacle::EffectAtBound));
    }

    #[test]
    fn five_values_have_no_interval_and_support_nothing() {
        let bounds = Bounds::around_one(0.1);
        let same = |level| median_of(EstimateKind::Ratio, &[1.0; 5], level);
        assert_eq!(bounds.judge(same, SURE, 5).0, Verdict::UNKNOWN);
        let same = |level| median_of(EstimateKind::Ratio, &[1.0; 6], level);
        assert_eq!(bounds.judge(same, SURE, 6).0, Verdict::Supported);
        assert_eq!(median_of(EstimateKind::Ratio, &[], 0.95), None);
    }
}
