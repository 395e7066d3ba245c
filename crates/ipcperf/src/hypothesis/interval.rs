//! Verdicts by an interval: it lies within bounds, wholly outside, or on a bound.

use ipcperf_stats::{Bootstrap, median};

use super::{Claim, Correction, Estimate, Verdict};

/// More repetitions than this settle nothing that anyone would wait for.
const MOST_REPETITIONS: f64 = 100_000.0;
/// A 95 % interval must be so many times narrower than one that just reaches a bound, so that four in five
/// such intervals keep clear of it: (1.960 + 0.842) / 1.960.
const CLEAR: f64 = 1.43;

/// A range that may be open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) above: Option<f64>,
    pub(super) below: Option<f64>,
}

/// How sure intervals are by which a part of a claim is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sure {
    /// The level of the interval that is shown.
    pub(super) shown: f64,
    /// Of the one that supports: where every part must hold, none of them has to be surer for there being
    /// others (Berger 1982).
    supports: f64,
    /// Of the one that rejects: one part suffices to reject the claim, so that each is surer (Bonferroni).
    pub(super) rejects: f64,
}

impl Sure {
    /// For each of the `parts` of `claim`, by intervals that miss the truth with probability `miss`.
    pub(super) fn of(claim: &Claim, parts: usize, miss: f64) -> Self {
        #[allow(clippy::cast_precision_loss, reason = "a few parts")]
        let corrected = match claim.correction() {
            Correction::None => 1.0 - miss,
            Correction::Holm | Correction::BenjaminiHochberg => 1.0 - miss / parts.max(1) as f64,
        };
        let supports = if claim.need() < 1.0 { corrected } else { 1.0 - miss };
        Self { shown: 1.0 - miss, supports, rejects: corrected }
    }

    /// Where not all parts must hold, so that chance has several of them to choose from.
    pub(super) const fn of_some(self) -> Self {
        Self { supports: self.rejects, ..self }
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
        let Some(shown) = at(sure.shown) else {
            return (Verdict::Inconclusive { repetitions: None }, None);
        };
        let verdict = if at(sure.supports).is_some_and(|one| self.holds(&one)) {
            Verdict::Supported
        } else if at(sure.rejects).is_some_and(|one| self.excludes(&one)) {
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
        Verdict::Inconclusive { repetitions: self.needed(estimate, n) }
    }

    /// Repetitions at which four in five intervals would no longer hold a bound: they narrow as the root of
    /// repetitions grows.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of repetitions, rounded up"
    )]
    fn needed(self, estimate: &Estimate, n: usize) -> Option<u64> {
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
        (needed <= MOST_REPETITIONS).then_some(needed as u64)
    }

    fn is_inside(self, value: f64) -> bool {
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

/// The median of `values` with its interval by order statistics at `level`, called `name`.
pub(super) fn median_of(name: &str, values: &[f64], level: f64) -> Option<Estimate> {
    let interval = Bootstrap { level, ..Bootstrap::default() }.median(values);
    Some(Estimate {
        name: name.to_owned(),
        value: median(values)?,
        low: interval.map(|ends| ends.low),
        high: interval.map(|ends| ends.high),
        level,
        unit: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SURE: Sure = Sure { shown: 0.95, supports: 0.95, rejects: 0.99 };

    fn estimate(low: f64, value: f64, high: f64) -> Estimate {
        let (low, high, name, unit) = (Some(low), Some(high), String::new(), String::new());
        Estimate { name, value, low, high, level: 0.95, unit }
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
        assert_eq!(open, Verdict::Inconclusive { repetitions: Some(83) });
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
        assert_eq!(open, Verdict::Inconclusive { repetitions: Some(83) });
        let on_it = Verdict::Inconclusive { repetitions: None };
        assert_eq!(verdict(bounds, 1.0, 2.0, 3.0), on_it);
        assert_eq!(verdict(bounds, 2.0, 2.0, 2.0), on_it);
    }

    #[test]
    fn five_values_have_no_interval_and_support_nothing() {
        let bounds = Bounds::around_one(0.1);
        let same = |level| median_of("ratio", &[1.0; 5], level);
        assert_eq!(bounds.judge(same, SURE, 5).0, Verdict::Inconclusive { repetitions: None });
        let same = |level| median_of("ratio", &[1.0; 6], level);
        assert_eq!(bounds.judge(same, SURE, 6).0, Verdict::Supported);
        assert_eq!(median_of("ratio", &[], 0.95), None);
    }
}
