//! Settings of a case that differ from their defaults.

use std::fmt;

/// A setting of a case that differs from its default.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// Flag that sets it, without its dashes.
    pub flag: &'static str,
    /// Value of the setting.
    pub value: ConditionValue,
}

/// Value of a [`Condition`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConditionValue {
    /// A number of bytes.
    Bytes(u64),
    /// Anything else, as on the command line.
    Word(String),
}

impl fmt::Display for ConditionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes}"),
            Self::Word(word) => f.write_str(word),
        }
    }
}
