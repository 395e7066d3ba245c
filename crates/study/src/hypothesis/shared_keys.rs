//! Keys shared by several tests.

use super::key_values::KeyChoice;
use crate::{Key, Requirement, STATISTICS, ValueType};

/// The first of two lines.
pub(super) const FIRST: Key = Key {
    name: "first",
    value_type: ValueType::Cases,
    requirement: Requirement::Required,
    about: "first side of the comparison: the cases that the claim is about",
    example: "{ mechanism = \"pipe\" }",
};

/// The second of two lines.
pub(super) const SECOND: Key = Key {
    name: "second",
    value_type: ValueType::Cases,
    requirement: Requirement::Required,
    about: "second side of the comparison: the cases that the first side is compared with. If these cases form \
            several lines, each line of the first side is compared with each of them",
    example: "{ mechanism = \"unix-stream\" }",
};

/// Whether the second lines are compared one by one or by the best of them.
pub(super) const OF_SECOND: Key = Key {
    name: "of_second",
    value_type: ValueType::Choice(&["each", "best"]),
    requirement: Requirement::Optional("each"),
    about: "each: compare with each line of the second side. best: lines of the second side that differ only \
            in the mechanism count as one line, which has the best of their values at each level in each block",
    example: "\"best\"",
};

/// Whether lines are compared once, by their means over levels, or at each level.
pub(super) const AT: Key = Key {
    name: "at",
    value_type: ValueType::Choice(&["blocks", "levels"]),
    requirement: Requirement::Optional("blocks"),
    about: "blocks: compare once, by the geometric mean over all levels in each block. levels: compare at each \
            level separately",
    example: "\"levels\"",
};

/// The test statistic.
pub(super) const STATISTIC: Key = Key {
    name: "statistic",
    value_type: ValueType::Choice(STATISTICS),
    requirement: Requirement::Optional("wilcoxon"),
    about: "test statistic. wilcoxon and paired-t compare the two values of each block; the others ignore blocks",
    example: "\"wilcoxon\"",
};

/// Share below which a difference does not matter.
pub(super) const NEGLIGIBLE: Key = Key {
    name: "negligible",
    value_type: ValueType::Number(0.0, 1.0),
    requirement: Requirement::Optional("0.01"),
    about: "largest relative difference that counts as no difference: 0.01 is 1 %",
    example: "0.02",
};

/// Exclusive lower bound of an estimate.
pub(super) const ABOVE: Key = Key {
    name: "above",
    value_type: ValueType::Number(-1e300, 1e300),
    requirement: Requirement::Optional("none"),
    about: "lower bound: the estimate must be larger than this",
    example: "1.5",
};

/// Exclusive upper bound of an estimate.
pub(super) const BELOW: Key = Key {
    name: "below",
    value_type: ValueType::Number(-1e300, 1e300),
    requirement: Requirement::Optional("none"),
    about: "upper bound: the estimate must be smaller than this",
    example: "3",
};

/// Largest share by which two equivalent values may differ.
pub(super) const MARGIN: Key = Key {
    name: "margin",
    value_type: ValueType::Number(0.000_1, 10.0),
    requirement: Requirement::Optional("0.1"),
    about: "largest relative difference at which two values count as equal: 0.1 is 10 %",
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

impl KeyChoice for ComparedAt {
    fn from_choice(word: &str) -> Option<Self> {
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
    use crate::section_keys::HYPOTHESIS;

    /// Words that describe the absence of a default. A key with one of these is read with `KeyValues::optional`.
    const NO_DEFAULT: [&str; 2] = ["none", "any"];

    /// Defaults are parsed from the keys. One that is not a number or word of its key would silently be ignored.
    #[test]
    fn defaults_are_what_their_keys_take() {
        let keys = TESTS.iter().flat_map(|test| test.keys).chain(HYPOTHESIS.keys);
        for key in keys {
            let Some(default) = key.default().filter(|words| !NO_DEFAULT.contains(words)) else {
                continue;
            };
            let is_right = match key.value_type {
                ValueType::Number(least, most) => {
                    default.parse().is_ok_and(|number| (least..=most).contains(&number))
                }
                ValueType::Integer(least, most) => {
                    default.parse().is_ok_and(|number| (least..=most).contains(&number))
                }
                ValueType::Choice(words) => words.contains(&default),
                _ => true,
            };
            assert!(is_right, "{}: {default}", key.name);
        }
    }
}
