//! Keys shared by several tests.

use super::key_values::KeyWord;
use crate::{Key, Need, STATISTICS, Takes};

/// The first of two lines.
pub(super) const FIRST: Key = Key {
    name: "first",
    takes: Takes::Cases,
    need: Need::Required,
    about: "the cases that are claimed to be so",
    example: "{ mechanism = \"pipe\" }",
};

/// The second of two lines.
pub(super) const SECOND: Key = Key {
    name: "second",
    takes: Takes::Cases,
    need: Need::Required,
    about: "the cases they are held against; where these are several lines, each in turn",
    example: "{ mechanism = \"unix-stream\" }",
};

/// Whether the second lines are compared one by one or by the best of them.
pub(super) const OF_SECOND: Key = Key {
    name: "of_second",
    takes: Takes::OneOf(&["each", "best"]),
    need: Need::Optional("each"),
    about: "each line in turn, or at each level and in each block the best of them",
    example: "\"best\"",
};

/// Whether lines are compared once, by their means over levels, or at each level.
pub(super) const AT: Key = Key {
    name: "at",
    takes: Takes::OneOf(&["blocks", "levels"]),
    need: Need::Optional("blocks"),
    about: "compare once, by the geometric mean over levels in each block, or at each level",
    example: "\"levels\"",
};

/// The test statistic.
pub(super) const STATISTIC: Key = Key {
    name: "statistic",
    takes: Takes::OneOf(STATISTICS),
    need: Need::Optional("wilcoxon"),
    about: "the test statistic: wilcoxon and paired-t pair by block, the others do not",
    example: "\"wilcoxon\"",
};

/// Share below which a difference does not matter.
pub(super) const NEGLIGIBLE: Key = Key {
    name: "negligible",
    takes: Takes::Number(0.0, 1.0),
    need: Need::Optional("0.01"),
    about: "a difference of less than this share is none: the claim is rejected where no more is there",
    example: "0.02",
};

/// Exclusive lower bound of an estimate.
pub(super) const ABOVE: Key = Key {
    name: "above",
    takes: Takes::Number(-1e300, 1e300),
    need: Need::Optional("none"),
    about: "what it must lie above",
    example: "1.5",
};

/// Exclusive upper bound of an estimate.
pub(super) const BELOW: Key = Key {
    name: "below",
    takes: Takes::Number(-1e300, 1e300),
    need: Need::Optional("none"),
    about: "what it must lie below",
    example: "3",
};

/// Largest share by which two equivalent values may differ.
pub(super) const MARGIN: Key = Key {
    name: "margin",
    takes: Takes::Number(0.000_1, 10.0),
    need: Need::Optional("0.1"),
    about: "the share by which the two may differ and still be alike",
    example: "0.1",
};

/// Comparisons made of two lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparedAt {
    /// One, of the means over levels in each block.
    Blocks,
    /// One at each level.
    Levels,
}

impl KeyWord for ComparedAt {
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "blocks" => Some(Self::Blocks),
            "levels" => Some(Self::Levels),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hypothesis::TESTS;
    use crate::sections::HYPOTHESIS;

    /// Words that describe the absence of a default. A key with one of these is read with `KeyValues::optional`.
    const NO_DEFAULT: [&str; 3] = ["none", "any", "its own"];

    /// Defaults are parsed from the keys. One that is not a number or word of its key would silently be ignored.
    #[test]
    fn defaults_are_what_their_keys_take() {
        let keys = TESTS.iter().flat_map(|test| test.keys).chain(HYPOTHESIS.keys);
        for key in keys {
            let Some(default) = key.default().filter(|words| !NO_DEFAULT.contains(words)) else {
                continue;
            };
            let is_right = match key.takes {
                Takes::Number(least, most) => {
                    default.parse().is_ok_and(|number| (least..=most).contains(&number))
                }
                Takes::Whole(least, most) => {
                    default.parse().is_ok_and(|number| (least..=most).contains(&number))
                }
                Takes::OneOf(words) => words.contains(&default),
                _ => true,
            };
            assert!(is_right, "{}: {default}", key.name);
        }
    }
}
