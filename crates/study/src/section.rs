//! A section of a study file, and functions that describe its keys.

use ipcperf_plan::Factor;

use super::key::{Key, Requirement, ValueType};

/// A table, or a list of tables, of the file.
pub struct Section {
    /// Key of the section. Empty for the top of the file.
    pub name: &'static str,
    /// How often it may occur.
    pub occurrence: Occurrence,
    /// Purpose, for documentation.
    pub about: &'static str,
    /// Keys that it may have.
    pub keys: &'static [Key],
}

/// How often a section may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// At most once, as `[name]`.
    Once,
    /// Any number of times, as `[[name]]`.
    Many,
}

impl Section {
    /// Returns the heading as written: `[name]` or `[[name]]`.
    pub fn heading(&self) -> String {
        match self.occurrence {
            Occurrence::Once => format!("[{}]", self.name),
            Occurrence::Many => format!("[[{}]]", self.name),
        }
    }
}

pub(super) const fn required(
    name: &'static str,
    takes: ValueType,
    example: &'static str,
    about: &'static str,
) -> Key {
    Key { name, value_type: takes, requirement: Requirement::Required, about, example }
}

/// Returns a key that is required unless the key `other` is given.
pub(super) const fn required_unless(
    other: &'static str,
    name: &'static str,
    takes: ValueType,
    example: &'static str,
    about: &'static str,
) -> Key {
    Key { name, value_type: takes, requirement: Requirement::Unless(other), about, example }
}

pub(super) const fn optional(
    name: &'static str,
    takes: ValueType,
    example: &'static str,
    usual: &'static str,
    about: &'static str,
) -> Key {
    Key { name, value_type: takes, requirement: Requirement::Optional(usual), about, example }
}

/// Returns a key for `factor`, with the factor's name and default.
pub(super) const fn factor_key(
    factor: Factor,
    takes: ValueType,
    example: &'static str,
    about: &'static str,
) -> Key {
    optional(factor.key(), takes, example, factor.default_text(), about)
}
