//! Verdicts by an interval: it lies within bounds, wholly outside, or on a bound.

use super::{Estimate, Verdict};

/// More repetitions than this settle nothing that anyone would wait for.
const MOST_REPETITIONS: f64 = 100_000.0;

/// A range that may be open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) above: Option<f64>,
    pub(super) below: Option<f64>,
}

impl Bounds {
    /// Supported where `estimate`, with its interval from `n` repetitions, lies within; rejected where the
    /// interval lies wholly outside.
    pub(super) fn judge(self, estimate: &Estimate, n: usize) -> Verdict {
        let (Some(low), Some(high)) = (estimate.low, estimate.high) else {
            return Verdict::Inconclusive { repetitions: None };
        };
        let (above, below) =
            (self.above.unwrap_or(f64::NEG_INFINITY), self.below.unwrap_or(f64::INFINITY));
        if low > above && high < below {
            Verdict::Supported
        } else if high < above || low > below {
            Verdict::Rejected
        } else {
            self.open(estimate, n)
        }
    }

    /// Not known, with the repetitions that would settle it.
    pub(super) fn open(self, estimate: &Estimate, n: usize) -> Verdict {
        Verdict::Inconclusive { repetitions: self.needed(estimate, n) }
    }

    /// Repetitions at which the interval would no longer hold a bound: it narrows as their root grows.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of repetitions, rounded up"
    )]
    fn needed(self, estimate: &Estimate, n: usize) -> Option<u64> {
        let (low, high) = (estimate.low?, estimate.high?);
        let crossed = [self.above, self.below].into_iter().flatten();
        let crossed = crossed.filter(|bound| (low..=high).contains(bound));
        let times = crossed.map(|bound| {
            let reach =
                if bound < estimate.value { estimate.value - low } else { high - estimate.value };
            (reach / (estimate.value - bound).abs()).powi(2)
        });
        let needed = (n as f64 * times.fold(1.0, f64::max)).ceil() + 1.0;
        (needed <= MOST_REPETITIONS).then_some(needed as u64)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, value: f64, high: f64) -> Estimate {
        let (low, high, name, unit) = (Some(low), Some(high), String::new(), String::new());
        Estimate { name, value, low, high, level: 0.95, unit }
    }

    #[test]
    fn within_is_supported_outside_rejected_and_on_a_bound_open() {
        let bounds = Bounds { above: Some(1.5), below: Some(3.0) };
        assert_eq!(bounds.judge(&estimate(1.6, 2.0, 2.4), 10), Verdict::Supported);
        assert_eq!(bounds.judge(&estimate(1.1, 1.2, 1.4), 10), Verdict::Rejected);
        assert_eq!(bounds.judge(&estimate(3.1, 3.2, 3.4), 10), Verdict::Rejected);
        let open = bounds.judge(&estimate(1.3, 1.7, 2.1), 10);
        assert_eq!(open, Verdict::Inconclusive { repetitions: Some(41) });
    }
}
