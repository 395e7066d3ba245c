//! The cases of the two sides of a claim, as its keys name them.

use std::collections::BTreeSet;

use super::case_data::EVENTS;
use super::key_values::{KeyChoice, KeyError, KeyValues};
use super::shared_keys::{FIRST, SECOND};
use crate::Selection;

/// The cases of the two sides of a claim.
#[derive(Debug)]
pub(super) struct OperandCases {
    pub(super) first: Selection,
    pub(super) second: Selection,
    pub(super) second_lines: SecondLines,
}

/// Lines of the second side that each line of the first is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecondLines {
    /// Each of them in turn.
    Each,
    /// The best of them at each level and in each block.
    Best,
}

impl KeyChoice for SecondLines {
    fn from_choice(word: &str) -> Option<Self> {
        match word {
            "each" => Some(Self::Each),
            "best" => Some(Self::Best),
            _ => None,
        }
    }
}

impl OperandCases {
    /// Parses the cases of both sides, for tests that compare with `second_lines`.
    pub(super) fn parse(keys: &KeyValues<'_>, second_lines: SecondLines) -> Result<Self, KeyError> {
        let (first, second) = (keys.required(&FIRST)?, keys.required(&SECOND)?);
        Ok(Self { first, second, second_lines })
    }

    /// Returns the cases of the first side and those of the second.
    pub(super) const fn sides(&self) -> [&Selection; 2] {
        [&self.first, &self.second]
    }

    /// Returns the factors whose levels differ between the two sides. Two compared lines may differ only in these.
    pub(super) fn compared_factors(&self) -> BTreeSet<String> {
        let named = self.first.factors().chain(self.second.factors()).map(|(factor, _)| factor);
        let compared =
            named.filter(|factor| self.first.levels_of(factor) != self.second.levels_of(factor));
        // The events that are counted depend on the matrix, so lines may differ in them.
        compared.chain([EVENTS]).map(str::to_owned).collect()
    }
}
