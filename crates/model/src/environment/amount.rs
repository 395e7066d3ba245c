//! Amount that may be unlimited. The word `unlimited` is a known value, unlike null.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number, or `unlimited`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Amount {
    /// Limited amount.
    Number(u64),
    /// Unlimited amount.
    Word(Unlimited),
}

/// Word for an unlimited amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unlimited {
    /// No limit.
    Unlimited,
}

impl Amount {
    /// Unlimited amount.
    pub const UNLIMITED: Self = Self::Word(Unlimited::Unlimited);

    /// Converts a limit of the system, where `None` means unlimited.
    pub fn from_limit(limit: Option<u64>) -> Self {
        limit.map_or(Self::UNLIMITED, Self::Number)
    }

    /// Returns the number, or `None` if the amount is unlimited.
    pub const fn as_number(self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Word(Unlimited::Unlimited) => None,
        }
    }

    /// Returns the smaller of the two amounts.
    pub fn tighter(self, other: Self) -> Self {
        match (self.as_number(), other.as_number()) {
            (Some(one), Some(two)) => Self::Number(one.min(two)),
            (Some(_), None) => self,
            (None, _) => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_is_a_word_and_not_null() {
        for (amount, text) in [(Amount::Number(7), "7"), (Amount::UNLIMITED, "\"unlimited\"")] {
            assert_eq!(serde_json::to_string(&amount).unwrap(), text);
            assert_eq!(serde_json::from_str::<Amount>(text).unwrap(), amount);
        }
        assert!(serde_json::from_str::<Amount>("\"boundless\"").is_err());
    }

    #[test]
    fn the_tighter_of_two_is_a_number_where_there_is_one() {
        let (three, four) = (Amount::Number(3), Amount::Number(4));
        assert_eq!(three.tighter(four), three);
        assert_eq!(four.tighter(three), three);
        assert_eq!(Amount::UNLIMITED.tighter(four), four);
        assert_eq!(four.tighter(Amount::UNLIMITED), four);
        assert_eq!(Amount::UNLIMITED.tighter(Amount::UNLIMITED), Amount::UNLIMITED);
    }
}
