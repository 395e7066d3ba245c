//! Parses sizes: `64`, `64KiB`, `1MB`, lists, and ranges.
//!
//! `512..16MiB` is the powers of two from the start, including both ends. `1MB..100MB:10` is ten equally spaced
//! values, including both ends. `1kB..100MB*10` multiplies by ten. KiB, MiB, GiB and TiB are powers of 1024; kB
//! (also KB), MB, GB and TB are powers of 1000.

use std::collections::HashSet;
use std::fmt;

/// Maximum number of values in one list: a longer list is a typing error rather than a plan.
pub const MAX_VALUES: u64 = 4_096;
/// Maximum number of characters of a list that an error quotes.
const MAX_QUOTED_CHARS: usize = 60;

/// Units of sizes, each with its number of bytes. A number without a unit is in bytes.
pub const UNITS: [(&str, u64); 11] = [
    ("", 1),
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

/// The valid forms of a size, as a hint.
const VALID_SIZES: &str =
    "write a whole number of bytes, such as 64, or one with KiB, MiB, GiB, TiB, kB, MB, GB or TB";

/// Error in a size or in a list of sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeError {
    /// Not a whole number, with or without a unit.
    Invalid(String),
    /// Zero bytes.
    Zero(String),
    /// More bytes than fit into 64 bits.
    TooLarge(String),
    /// A range without an end.
    NoEnd(String),
    /// A range without a start.
    NoStart(String),
    /// A range whose end is below its start.
    Backwards(String),
    /// A range whose factor is below 2.
    InvalidFactor(String),
    /// A range with a count below two.
    InvalidCount(String),
    /// More values than allowed, with their number.
    TooMany(String, u64),
}

impl SizeError {
    /// Returns a description of the error.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Invalid(text) if text.trim().is_empty() => "a size is missing".to_owned(),
            Self::Invalid(text) => format!("`{text}` is not a size"),
            Self::Zero(text) => format!("invalid value `{text}`"),
            Self::TooLarge(text) => format!("`{text}` does not fit in 64 bits"),
            Self::NoEnd(text) => format!("range `{text}` has no end"),
            Self::NoStart(text) => format!("range `{text}` has no start"),
            Self::Backwards(text) => format!("range `{text}` ends before it starts"),
            Self::InvalidFactor(text) => format!("range `{text}` never ends"),
            Self::InvalidCount(text) => format!("`{text}` has too small a count after the `:`"),
            Self::TooMany(text, count) => format!("`{text}` has {count} sizes"),
        }
    }

    /// Returns a hint with the correct form.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Invalid(text) => match corrected(text) {
                Some(size) => format!("did you mean {size}?"),
                None => VALID_SIZES.to_owned(),
            },
            Self::Zero(_) => "a size must be at least 1 byte".to_owned(),
            Self::TooLarge(_) => format!("the maximum is {} bytes", u64::MAX),
            Self::NoEnd(_) | Self::NoStart(_) => "write it as FROM..TO".to_owned(),
            Self::Backwards(_) => "write the smaller size first".to_owned(),
            Self::InvalidFactor(_) => "a step must multiply by 2 or more".to_owned(),
            Self::InvalidCount(_) => "the count must be 2 or more, as in 1kB..100kB:10".to_owned(),
            Self::TooMany(..) => format!("the maximum is {MAX_VALUES}"),
        }
    }
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero(text) => write!(f, "{}, not `{text}`", self.remedy()),
            _ => write!(f, "{}; {}", self.reason(), self.remedy()),
        }
    }
}

impl std::error::Error for SizeError {}

/// Parses one size.
///
/// # Errors
///
/// Returns an error if `text` is not a size, is zero, or is more than fits into 64 bits.
pub fn parse(text: &str) -> Result<u64, SizeError> {
    parse_number(text, &UNITS)
}

/// Parses a whole number with one of `units`, or with none if the list has an empty name.
pub(crate) fn parse_number(text: &str, units: &[(&str, u64)]) -> Result<u64, SizeError> {
    let invalid = || SizeError::Invalid(text.to_owned());
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    if number.is_empty() {
        return Err(invalid());
    }
    let unit = unit.trim_start();
    let (_, factor) = units.iter().find(|(name, _)| *name == unit).ok_or_else(invalid)?;
    let too_large = || SizeError::TooLarge(text.to_owned());
    let bytes = number.parse::<u64>().map_err(|_| too_large())?.checked_mul(*factor);
    match bytes.ok_or_else(too_large)? {
        0 => Err(SizeError::Zero(text.to_owned())),
        bytes => Ok(bytes),
    }
}

/// Parses a comma-separated list of sizes and ranges; repeated values are dropped.
///
/// # Errors
///
/// Returns an error if the list is too long, or if one of its items is neither a size nor a range.
pub fn parse_list(text: &str) -> Result<Vec<u64>, SizeError> {
    parse_items(&text.split(',').collect::<Vec<_>>())
}

/// Parses the items of a list, each a size or a range; repeated values are dropped.
///
/// # Errors
///
/// Returns an error if the list is too long, or if one of its items is neither a size nor a range.
pub fn parse_items(items: &[&str]) -> Result<Vec<u64>, SizeError> {
    parse_items_as(items, parse)
}

/// Parser of a single value of a list.
type ParseValue = fn(&str) -> Result<u64, SizeError>;

/// Parses the items of a list whose values `value` parses.
pub(crate) fn parse_items_as(items: &[&str], value: ParseValue) -> Result<Vec<u64>, SizeError> {
    check_items(items, value)?;
    let (mut values, mut seen) = (Vec::new(), HashSet::new());
    for item in items {
        for one in Item::parse(item.trim(), value)?.values() {
            if seen.insert(one) {
                values.push(one);
            }
        }
    }
    Ok(values)
}

/// Checks that a list of `items` is not too long, before any value is generated: a short text can name millions.
///
/// # Errors
///
/// Returns an error if the list has more than [`MAX_VALUES`] sizes.
pub fn check_count(items: &[&str]) -> Result<(), SizeError> {
    check_items(items, parse)
}

fn check_items(items: &[&str], value: ParseValue) -> Result<(), SizeError> {
    match count_items(items.iter().copied(), value) {
        0..=MAX_VALUES => Ok(()),
        count => Err(SizeError::TooMany(quote(items), count)),
    }
}

/// Number of values that the list `text` names, including repeated ones, counted without generating them. An item
/// that is not a size counts as one value.
#[must_use]
pub fn count_list(text: &str) -> u64 {
    count_items(text.split(','), parse)
}

fn count_items<'a>(items: impl Iterator<Item = &'a str>, value: ParseValue) -> u64 {
    let counts = items.map(|item| Item::parse(item.trim(), value).map_or(1, Item::count));
    counts.fold(0, u64::saturating_add)
}

/// Returns the start of a list of `items`, or the whole list if it is short.
fn quote(items: &[&str]) -> String {
    // Each item has at least one character, or the comma after it.
    let text = items[..items.len().min(MAX_QUOTED_CHARS + 1)].join(",");
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Item of a list.
#[derive(Clone, Copy)]
enum Item {
    Single(u64),
    /// `start`, `start * factor`, ... below `end`, then `end` itself.
    Geometric {
        start: u64,
        end: u64,
        factor: u64,
    },
    /// `count` equally spaced values, rounded to whole numbers.
    Linear {
        start: u64,
        end: u64,
        count: u64,
    },
}

impl Item {
    fn parse(text: &str, value: ParseValue) -> Result<Self, SizeError> {
        let Some((start, rest)) = text.split_once("..") else {
            return Ok(Self::Single(value(text)?));
        };
        if start.trim().is_empty() {
            return Err(SizeError::NoStart(text.to_owned()));
        }
        let step = rest.find([':', '*']).map(|at| (rest.as_bytes()[at], rest[at + 1..].trim()));
        let end = rest.split([':', '*']).next().unwrap_or_default();
        if end.trim().is_empty() {
            return Err(SizeError::NoEnd(text.to_owned()));
        }
        let (start, end) = (value(start)?, value(end)?);
        if end < start {
            return Err(SizeError::Backwards(text.to_owned()));
        }
        match step {
            Some((b':', count)) => {
                let count = count.parse().ok().filter(|&count| count >= 2);
                let count = count.ok_or_else(|| SizeError::InvalidCount(text.to_owned()))?;
                Ok(Self::Linear { start, end, count })
            }
            step => {
                let factor = step.map_or(Some(2), |(_, factor)| factor.parse().ok());
                let factor = factor.filter(|&factor| factor >= 2);
                let factor = factor.ok_or_else(|| SizeError::InvalidFactor(text.to_owned()))?;
                Ok(Self::Geometric { start, end, factor })
            }
        }
    }

    /// Number of values, including those that round to the same number.
    fn count(self) -> u64 {
        match self {
            Self::Single(_) => 1,
            Self::Geometric { .. } => self.values().len() as u64,
            Self::Linear { count, .. } => count,
        }
    }

    /// Returns the values. The length of an equally spaced range must have been checked before.
    fn values(self) -> Vec<u64> {
        match self {
            Self::Single(size) => vec![size],
            Self::Geometric { start, end, factor } => geometric_range(start, end, factor),
            Self::Linear { start, end, count } => linear_range(start, end, count),
        }
    }
}

/// Returns at most 64 values: each is at least twice the one before.
fn geometric_range(start: u64, end: u64, factor: u64) -> Vec<u64> {
    let next = |&size: &u64| size.checked_mul(factor).filter(|&next| next < end);
    let mut sizes: Vec<u64> = std::iter::successors(Some(start), next).collect();
    if start < end {
        sizes.push(end);
    }
    sizes
}

fn linear_range(start: u64, end: u64, count: u64) -> Vec<u64> {
    let (steps, width) = (u128::from(count - 1), u128::from(end - start));
    let offset = |index: u64| (u128::from(index) * width + steps / 2) / steps;
    let mut sizes: Vec<u64> = (0..count)
        .map(|index| start + u64::try_from(offset(index)).unwrap_or(end - start))
        .collect();
    sizes.dedup();
    sizes
}

/// Returns `text` with the unit that is meant by `K`, `m` or `kib`: programs differ about `K`, here units are written out.
fn corrected(text: &str) -> Option<String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).filter(|digits| *digits > 0)?;
    let (number, typed) = text.split_at(digits);
    let meant = |name: &str| {
        let stem = name.strip_suffix("iB").unwrap_or(name);
        [name, stem].iter().any(|form| form.eq_ignore_ascii_case(typed.trim()))
    };
    UNITS.iter().find(|(name, _)| meant(name)).map(|(name, _)| format!("{number}{name}"))
}

/// Display of a number of bytes with the largest binary or decimal unit that leaves a whole number.
#[derive(Clone, Copy, Debug)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |name: &str| !matches!(name, "" | "B" | "KB");
        let fitting =
            UNITS.iter().filter(|(name, factor)| named(name) && self.0.is_multiple_of(*factor));
        match fitting.filter(|(_, factor)| self.0 >= *factor).max_by_key(|(_, factor)| *factor) {
            Some((name, factor)) => write!(f, "{} {name}", self.0 / factor),
            None => write!(f, "{} B", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn units_are_binary_and_decimal() {
        let cases = [
            ("64", 64),
            ("64B", 64),
            ("64KiB", 65_536),
            ("64 KiB", 65_536),
            ("1MiB", 1 << 20),
            ("2GiB", 2 << 30),
            ("1TiB", 1 << 40),
            ("1kB", 1_000),
            ("1KB", 1_000),
            ("1MB", 1_000_000),
            ("3GB", 3_000_000_000),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn ranges_have_both_ends_in() {
        assert_eq!(parse_list("512..4KiB").unwrap(), [512, 1024, 2048, 4096]);
        assert_eq!(parse_list("512..1000").unwrap(), [512, 1000]);
        assert_eq!(parse_list("64..64").unwrap(), [64]);
        assert_eq!(parse_list("1kB..1MB*10").unwrap(), [1_000, 10_000, 100_000, 1_000_000]);
        let spaced: Vec<u64> = (1..=10).map(|n| n * 10).collect();
        assert_eq!(parse_list("10..100:10").unwrap(), spaced);
        assert_eq!(parse_list("1MB..100MB:10").unwrap().last(), Some(&100_000_000));
        assert_eq!(parse_list("64,1KiB,64,64..128").unwrap(), [64, 1024, 128]);
        assert_eq!(parse_list("512..16MiB").unwrap().len(), 16);
    }

    #[test]
    fn each_mistake_has_its_words() {
        let message = |text| parse_list(text).unwrap_err().to_string();
        assert_eq!(message("0"), "a size must be at least 1 byte, not `0`");
        assert_eq!(message("512.."), "range `512..` has no end; write it as FROM..TO");
        assert_eq!(message("..512"), "range `..512` has no start; write it as FROM..TO");
        let backwards = "range `16MiB..512` ends before it starts; write the smaller size first";
        assert_eq!(message("16MiB..512"), backwards);
        for endless in ["1..64*1", "1..64*0", "1..64*x"] {
            assert!(message(endless).contains("never ends"), "{endless}");
        }
        assert!(message("1..64:1").contains("too small a count"));
        assert!(message("1..64:99999").contains("99999 sizes"));
        assert!(message("99999999999GiB").contains("64 bits"));
        assert!(message("99999999999999999999").contains("64 bits"));
        for (typed, meant) in [("4K", "4KiB"), ("64kib", "64KiB"), ("1m", "1MiB"), ("2tb", "2TB")] {
            assert_eq!(message(typed), format!("`{typed}` is not a size; did you mean {meant}?"));
        }
        for incomplete in ["", "64,", "1,,2"] {
            assert_eq!(message(incomplete), format!("a size is missing; {VALID_SIZES}"));
        }
        for wrong in ["KiB", "-1", "1.5KiB", "64kib", "five", "6 4"] {
            assert!(message(wrong).contains("is not a size"), "{wrong}: {}", message(wrong));
        }
    }

    /// The test would not end if one of these lists were generated in order to count it.
    #[test]
    fn a_list_is_counted_without_being_made() {
        let absurd = format!("1..{0}:{0}", u64::MAX);
        let cases = [
            (absurd.clone(), u64::MAX),
            (format!("{absurd},{absurd}"), u64::MAX),
            ("1..9999999999:9999999999".to_owned(), 9_999_999_999),
            (["1..4096:4096"; 20_000].join(","), 81_920_000),
            (["1..1GiB"; 20_000].join(","), 620_000),
            (["7"; 60_000].join(","), 60_000),
            ("x,1..,5".to_owned(), 3),
        ];
        for (text, count) in cases {
            assert_eq!(count_list(&text), count, "{}", quote(&[&text]));
            let Err(error) = parse_list(&text) else { panic!("{} is a list", quote(&[&text])) };
            assert!(error.to_string().chars().count() < 200, "{error}");
        }
    }

    #[test]
    fn bytes_are_written_in_the_largest_whole_unit() {
        let cases = [
            (1, "1 B"),
            (64, "64 B"),
            (65_536, "64 KiB"),
            (1 << 20, "1 MiB"),
            (1_000, "1 kB"),
            (1_000_000, "1 MB"),
            (112_192, "112192 B"),
        ];
        for (bytes, text) in cases {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_size_or_an_error(text in "[0-9KMGiB.:*, x-]{0,12}") {
            if let Ok(sizes) = parse_list(&text) {
                prop_assert!(sizes.iter().all(|&size| size > 0));
            }
        }

        #[test]
        fn what_is_written_is_read_back(bytes in 1_u64..) {
            prop_assert_eq!(parse(&Bytes(bytes).to_string()), Ok(bytes));
        }

        #[test]
        fn ranges_ascend_between_their_ends(start in 1_u64..1 << 40, more in 0_u64..1 << 40, factor in 2_u64..100) {
            let end = start + more;
            let sizes = parse_list(&format!("{start}..{end}*{factor}")).unwrap();
            prop_assert!(sizes.is_sorted());
            prop_assert_eq!((sizes[0], *sizes.last().unwrap()), (start, end));
        }
    }
}
