//! Mixtures of message sizes, each with its share of the messages.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::size::{self, Bytes, SizeError};
use crate::stored_as_words::stored_as_words;

/// Maximum number of sizes in a mixture.
pub const MAX_SIZES: usize = 8;
/// Sum of all shares, in hundredths of a per cent.
pub const WHOLE: u32 = 10_000;
/// Description of the valid mixtures.
pub const VALID_MIXTURES: &str = "2 to 8 sizes with their shares of the messages, which add up to 100%, such as 200B:90%,64KiB:10%";

/// Mixture of message sizes: `200B:90%,64KiB:10%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct MessageSizes {
    /// In ascending order of size; those after the first `count` are unused, and zero.
    shares: [SizeShare; MAX_SIZES],
    count: usize,
}

/// A message size and its share of the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeShare {
    /// Size, bytes.
    pub bytes: u64,
    /// Share of the messages, in hundredths of a per cent; at least 1.
    pub share: u32,
}

/// Error for a text that is no mixture of message sizes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageSizesError {
    /// A size is invalid.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// A share is missing, or is no percentage with at most two decimals.
    #[error("`{0}` has no share; expected SIZE:SHARE, such as 200B:90%")]
    Share(String),
    /// One size, or too many.
    #[error("{0} sizes; expected 2 to {MAX_SIZES}{only}", only = single_size(*.0))]
    Count(usize),
    /// A size occurs twice.
    #[error("{size} occurs twice", size = Bytes(*.0))]
    Repeated(u64),
    /// The shares do not add up to the whole.
    #[error("the shares add up to {sum}%, not 100%", sum = Percent(*.0))]
    Sum(u32),
}

/// Returns the remedy for a mixture of `count` sizes, if that is one.
fn single_size(count: usize) -> &'static str {
    if count == 1 { " (for messages of one size, use -b)" } else { "" }
}

impl MessageSizes {
    /// Returns the sizes and their shares, in ascending order of size.
    #[must_use]
    pub fn shares(&self) -> &[SizeShare] {
        &self.shares[..self.count]
    }

    /// Size of the smallest message, bytes.
    #[must_use]
    pub fn smallest_bytes(&self) -> u64 {
        self.shares().first().map_or(1, |one| one.bytes)
    }

    /// Size of the largest message, bytes.
    #[must_use]
    pub fn largest_bytes(&self) -> u64 {
        self.shares().last().map_or(1, |one| one.bytes)
    }

    /// Mean size of the messages, bytes, rounded up.
    #[must_use]
    pub fn mean_bytes(&self) -> u64 {
        let weighed = self.shares().iter().map(|one| u128::from(one.bytes) * u128::from(one.share));
        let mean = weighed.sum::<u128>().div_ceil(u128::from(WHOLE));
        u64::try_from(mean).unwrap_or(u64::MAX)
    }
}

impl FromStr for MessageSizes {
    type Err = MessageSizesError;

    fn from_str(text: &str) -> Result<Self, MessageSizesError> {
        let mut all: Vec<SizeShare> = text.split(',').map(parse_one).collect::<Result<_, _>>()?;
        if !(2..=MAX_SIZES).contains(&all.len()) {
            return Err(MessageSizesError::Count(all.len()));
        }
        all.sort_unstable();
        if let Some(pair) = all.windows(2).find(|pair| pair[0].bytes == pair[1].bytes) {
            return Err(MessageSizesError::Repeated(pair[0].bytes));
        }
        let sum = all.iter().map(|one| one.share).sum();
        if sum != WHOLE {
            return Err(MessageSizesError::Sum(sum));
        }
        let mut shares = [SizeShare::default(); MAX_SIZES];
        shares[..all.len()].copy_from_slice(&all);
        Ok(Self { shares, count: all.len() })
    }
}

fn parse_one(item: &str) -> Result<SizeShare, MessageSizesError> {
    let no_share = || MessageSizesError::Share(item.trim().to_owned());
    let (bytes, share) = item.split_once(':').ok_or_else(no_share)?;
    let bytes = size::parse(bytes)?;
    let share = parse_percent(share.trim()).ok_or_else(no_share)?;
    Ok(SizeShare { bytes, share })
}

/// Parses a percentage above 0 and at most 100 with at most two decimals, in hundredths.
fn parse_percent(text: &str) -> Option<u32> {
    let number = text.strip_suffix('%')?.trim_end();
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(decimals) || decimals.len() > 2 {
        return None;
    }
    let hundredths = whole.parse::<u32>().ok()?.checked_mul(100)?;
    let scale = if decimals.len() == 1 { 10 } else { 1 };
    let share = hundredths.checked_add(decimals.parse::<u32>().ok()? * scale)?;
    (1..=WHOLE).contains(&share).then_some(share)
}

/// Display of hundredths of a per cent, without trailing zeroes.
struct Percent(u32);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.0) / 100.0)
    }
}

impl fmt::Display for MessageSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, one) in self.shares().iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let bytes = Bytes(one.bytes).to_string().replace(' ', "");
            write!(f, "{comma}{bytes}:{}%", Percent(one.share))?;
        }
        Ok(())
    }
}

stored_as_words!(MessageSizes);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mixtures_are_read_as_they_are_written() {
        for (text, written) in [
            ("200B:90%,64KiB:10%", "200B:90%,64KiB:10%"),
            ("64KiB:10%, 200:90 %", "200B:90%,64KiB:10%"),
            ("1:99.99%,2:0.01%", "1B:99.99%,2B:0.01%"),
            ("1kB:33.3%,1KiB:66.70%", "1kB:33.3%,1KiB:66.7%"),
        ] {
            let sizes: MessageSizes = text.parse().unwrap();
            assert_eq!(sizes.to_string(), written);
            assert_eq!(written.parse(), Ok(sizes));
        }
    }

    #[test]
    fn mistakes_are_named() {
        let told = |text: &str| text.parse::<MessageSizes>().unwrap_err().to_string();
        assert!(told("64:100%").contains("use -b"));
        assert_eq!(told("64:50%,128:40%"), "the shares add up to 90%, not 100%");
        assert_eq!(told("1024:50%,1KiB:50%"), "1 KiB occurs twice");
        for wrong in ["64:50%,128", "64:50%,128:50", "64:0%,128:100%", "64:-1%,128:101%"] {
            assert!(told(wrong).contains("has no share"), "{wrong}: {}", told(wrong));
        }
        for wrong in ["1:0.001%,2:99.999%", "1:.5%,2:99.5%", "1:1e1%,2:90%", "1:4294967297%,2:1%"] {
            assert!(told(wrong).contains("has no share"), "{wrong}: {}", told(wrong));
        }
        for wrong in ["", "64", "x:50%,64:50%", "0:50%,64:50%", "1:1%,".repeat(9).as_str()] {
            wrong.parse::<MessageSizes>().unwrap_err();
        }
    }

    proptest! {
        #[test]
        fn the_mean_lies_between_the_sizes(
            small in 1_u64..1 << 40, more in 1_u64..1 << 40, share in 1_u32..WHOLE,
        ) {
            let (low, high) = (Percent(share), Percent(WHOLE - share));
            let text = format!("{small}:{low}%,{}:{high}%", small + more);
            let sizes: MessageSizes = text.parse().unwrap();
            let mean = sizes.mean_bytes();
            prop_assert!(mean > sizes.smallest_bytes() && mean <= sizes.largest_bytes());
            prop_assert_eq!(sizes.to_string().parse(), Ok(sizes));
        }
    }
}
