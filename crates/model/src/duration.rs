//! Durations as users write them: a number with a unit, such as `500ms`, or a bare number of seconds.

use std::fmt;

/// Units and their length in seconds. A unit stands before every unit that it ends with: `ms` before `s`.
const UNITS: [(&str, f64); 7] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("min", 60.0),
    ("h", 3600.0),
    ("s", 1.0),
];
/// Description of the accepted forms, for messages and documentation.
pub const VALID_DURATIONS: &str =
    "a number with a unit (ns, us, ms, s, min, h), such as 500ms, or a number of seconds";

/// Text that is not a duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationError;

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a duration is {VALID_DURATIONS}")
    }
}

impl std::error::Error for DurationError {}

/// Parses a duration and returns it in seconds. It may be negative: the range is up to the caller.
///
/// # Errors
/// Returns an error if `text` is not a finite number, with or without a unit.
pub fn parse_duration(text: &str) -> Result<f64, DurationError> {
    let text = text.trim();
    let with_unit = UNITS.iter().find_map(|(unit, s)| Some((text.strip_suffix(unit)?, *s)));
    let (number, unit_s) = with_unit.unwrap_or((text, 1.0));
    let number: f64 = number.trim_end().parse().map_err(|_| DurationError)?;
    let seconds = number * unit_s;
    if seconds.is_finite() { Ok(seconds) } else { Err(DurationError) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_without_a_unit_is_in_seconds() {
        let forms = [("20us", 20e-6), ("20µs", 20e-6), ("1ms", 1e-3), ("2s", 2.0), ("2", 2.0)];
        let more = [("0.5", 0.5), (" 1.5 min ", 90.0), ("2h", 7200.0), ("3ns", 3e-9), ("-1", -1.0)];
        for (text, seconds) in forms.into_iter().chain(more) {
            let parsed = parse_duration(text).unwrap();
            assert!((parsed - seconds).abs() <= 1e-12 * seconds.abs(), "{text}: {parsed}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "s", "ms", "soon", "1x", "1m", "1 2", "NaN", "inf", "1e308h", "infs"] {
            assert_eq!(parse_duration(text), Err(DurationError), "{text}");
        }
    }
}
