//! Stopping rules: a case is repeated a fixed number of times, until its median is precise enough, or until the
//! claims about it are decided.

use ipcperf_model::{Looks, Precision};

use crate::factor::{Factor, MAX_REPETITIONS, MAX_TIME_S, MIN_REPETITIONS, REPETITIONS};
use crate::factor_error::{FactorError, Reason};

/// Maximum time limit, s (one week): a longer one is a typing error.
pub const MAX_TIME_LIMIT_S: f64 = 604_800.0;

/// Rule for when a case has been repeated often enough.
#[derive(Clone, Debug, PartialEq)]
pub enum StoppingRule {
    /// After this many valid repetitions, not counting the first one, which is excluded.
    Repetitions(u32),
    /// When the interval of the median is narrow enough relative to the median, or a limit is reached.
    UntilCi(Precision),
    /// When the claims of the study that need the case are decided.
    UntilDecided(Looks),
}

impl StoppingRule {
    /// Builds the rule from `--repetitions`, or from `--until-ci` with its limits.
    ///
    /// # Errors
    /// Returns an error for zero repetitions, for a percentage that is not between 0 and 100, or for a limit that
    /// is out of range.
    pub fn parse(
        repetitions: Option<u32>,
        until_ci_percent: Option<f64>,
        max_repetitions: Option<u32>,
        most_s: Option<f64>,
    ) -> Result<Self, FactorError> {
        let Some(percent) = until_ci_percent else {
            let repetitions = repetitions.unwrap_or(REPETITIONS.value);
            return check_minimum(Factor::Repetitions, repetitions).map(Self::Repetitions);
        };
        if !(percent > 0.0 && percent < 100.0) {
            return Err(range_error(Factor::UntilCi, &percent, "above 0 and below 100 %"));
        }
        let max = max_repetitions.unwrap_or(MAX_REPETITIONS.value);
        Ok(Self::UntilCi(Precision {
            half_width: percent / 100.0,
            min_repetitions: MIN_REPETITIONS,
            max_repetitions: check_minimum(Factor::MaxRepetitions, max)?,
            max_time_s: check_time_limit(most_s.unwrap_or_else(|| f64::from(MAX_TIME_S.value)))?,
        }))
    }

    /// Number of repetitions that every case gets, whatever they show.
    pub fn min_repetitions(&self) -> u32 {
        match self {
            Self::Repetitions(repetitions) => *repetitions,
            Self::UntilCi(precision) => precision.min_repetitions,
            Self::UntilDecided(looks) => looks.first(),
        }
    }

    /// Maximum number of repetitions of a case.
    pub fn max_repetitions(&self) -> u32 {
        match self {
            Self::Repetitions(repetitions) => *repetitions,
            Self::UntilCi(precision) => precision.max_repetitions,
            Self::UntilDecided(looks) => looks.last(),
        }
    }
}

/// Builds the error for a number that must be `what`.
pub(super) fn range_error(factor: Factor, number: &impl ToString, what: &str) -> FactorError {
    FactorError::new(factor, &number.to_string(), Reason::MustBe(what.to_owned()))
}

/// Returns `number` if it is at least the minimum of `factor`.
pub(super) fn check_minimum(factor: Factor, number: u32) -> Result<u32, FactorError> {
    match factor.minimum() {
        Some(minimum) if number < minimum => {
            Err(range_error(factor, &number, &format!("at least {minimum}")))
        }
        _ => Ok(number),
    }
}

fn check_time_limit(number: f64) -> Result<f64, FactorError> {
    if number > 0.0 && number <= MAX_TIME_LIMIT_S {
        return Ok(number);
    }
    let what = format!("above 0 s and at most {MAX_TIME_LIMIT_S} s (one week)");
    Err(range_error(Factor::MaxTime, &number, &what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_repetitions_unless_told_otherwise() {
        assert_eq!(
            StoppingRule::parse(None, None, None, None).unwrap(),
            StoppingRule::Repetitions(10)
        );
        assert_eq!(
            StoppingRule::parse(Some(3), None, None, None).unwrap(),
            StoppingRule::Repetitions(3)
        );
        assert!(StoppingRule::parse(Some(0), None, None, None).is_err());
    }

    #[test]
    fn an_interval_has_caps_and_a_floor() {
        let StoppingRule::UntilCi(precision) =
            StoppingRule::parse(None, Some(2.0), Some(20), None).unwrap()
        else {
            panic!("a precision");
        };
        assert!((precision.half_width - 0.02).abs() < 1e-12);
        assert_eq!((precision.min_repetitions, precision.max_repetitions), (10, 20));
        for (percent, most, most_s) in [
            (0.0, None, None),
            (f64::NAN, None, None),
            (100.0, None, None),
            (2.0, Some(9), None),
            (2.0, None, Some(0.0)),
            (2.0, None, Some(f64::INFINITY)),
        ] {
            assert!(StoppingRule::parse(None, Some(percent), most, most_s).is_err());
        }
    }

    #[test]
    fn two_per_cent_is_half_the_interval() {
        let Ok(StoppingRule::UntilCi(precision)) = StoppingRule::parse(None, Some(2.0), None, None)
        else {
            panic!("a precision");
        };
        assert!(precision.is_met(100.0, 98.5, 102.4));
        assert!(!precision.is_met(100.0, 97.0, 101.2));
    }
}
