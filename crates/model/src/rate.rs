//! Parses rates: `500`, `20k`, `1M` messages per second (`/s` may follow), lists, and ranges as for sizes.

use std::fmt;

use crate::size::{self, SizeError};

/// Units of rates, each with its number of messages per second.
const UNITS: [(&str, u64); 3] = [("", 1), ("k", 1_000), ("M", 1_000_000)];
/// Maximum rate, messages per second: twenty times what the fastest mechanism carries on current machines.
pub const MAX_RATE_PER_S: u64 = 1_000_000_000;
/// Valid forms of a rate, as a hint.
const VALID_RATES: &str = "write a whole number of messages per second, such as 500, 20k or 1M, or a range such as 1k..1M*10";

/// Error in a list of rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RateError {
    /// Invalid number or range.
    Invalid(SizeError),
    /// Rate above [`MAX_RATE_PER_S`].
    TooHigh(u64),
}

impl RateError {
    /// Returns a description of the error.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Invalid(SizeError::Invalid(text)) if text.trim().is_empty() => {
                "a rate is missing".to_owned()
            }
            Self::Invalid(SizeError::Invalid(text)) => format!("`{text}` is not a rate"),
            Self::Invalid(SizeError::TooMany(text, count)) => format!("`{text}` has {count} rates"),
            Self::Invalid(error) => error.reason(),
            Self::TooHigh(rate) => format!("rate {} is too high", PerSecond(*rate)),
        }
    }

    /// Returns a hint with the correct form.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Invalid(SizeError::Invalid(_) | SizeError::InvalidCount(_)) => {
                VALID_RATES.to_owned()
            }
            Self::Invalid(SizeError::Zero(_)) => {
                "a rate must be at least 1 message per second".to_owned()
            }
            Self::Invalid(SizeError::Backwards(_)) => "write the lower rate first".to_owned(),
            Self::Invalid(SizeError::TooLarge(_)) | Self::TooHigh(_) => {
                format!("the maximum is {}", PerSecond(MAX_RATE_PER_S))
            }
            Self::Invalid(error) => error.remedy(),
        }
    }
}

impl fmt::Display for RateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.reason(), self.remedy())
    }
}

impl std::error::Error for RateError {}

/// Parses the items of a list, each a rate or a range of rates; repeated values are dropped.
///
/// # Errors
/// Returns an error if the list is too long, if one of its items is neither a rate nor a range, or if a rate is too high.
pub fn parse_items(items: &[&str]) -> Result<Vec<u64>, RateError> {
    let rates = size::parse_items_as(items, parse_rate).map_err(RateError::Invalid)?;
    match rates.iter().find(|rate| **rate > MAX_RATE_PER_S) {
        Some(rate) => Err(RateError::TooHigh(*rate)),
        None => Ok(rates),
    }
}

fn parse_rate(text: &str) -> Result<u64, SizeError> {
    size::parse_number(text.trim().trim_end_matches("/s"), &UNITS)
}

/// Display of a rate in the form that [`parse_items`] accepts, with `/s`: `500/s`, `20k/s`.
#[derive(Clone, Copy, Debug)]
pub struct PerSecond(pub u64);

impl fmt::Display for PerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |factor: u64| self.0 >= factor && self.0.is_multiple_of(factor);
        let unit = UNITS.iter().rev().find(|(_, factor)| fits(*factor));
        let (name, factor) = unit.copied().unwrap_or(UNITS[0]);
        write!(f, "{}{name}/s", self.0 / factor)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Vec<u64>, RateError> {
        parse_items(&text.split(',').collect::<Vec<_>>())
    }

    #[test]
    fn rates_have_units_and_ranges() {
        assert_eq!(parse("500,20k,1M,20k/s").unwrap(), [500, 20_000, 1_000_000]);
        assert_eq!(parse("1k..1M*10").unwrap(), [1_000, 10_000, 100_000, 1_000_000]);
        assert_eq!(parse("10k..30k:3").unwrap(), [10_000, 20_000, 30_000]);
    }

    #[test]
    fn each_mistake_has_its_words() {
        let message = |text| parse(text).unwrap_err().to_string();
        assert_eq!(message("fast"), format!("`fast` is not a rate; {VALID_RATES}"));
        assert_eq!(message("1k,"), format!("a rate is missing; {VALID_RATES}"));
        assert_eq!(message("0"), "invalid value `0`; a rate must be at least 1 message per second");
        assert_eq!(message("2000M"), "rate 2000M/s is too high; the maximum is 1000M/s");
        assert!(message("2M..1k").ends_with("write the lower rate first"));
        assert!(message("1KiB").contains("is not a rate"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(rate in 1..=MAX_RATE_PER_S) {
            prop_assert_eq!(parse(&PerSecond(rate).to_string()), Ok(vec![rate]));
        }
    }
}
