//! What a section of a study file is.

use ipcperf_plan::Factor;

use super::key::{Key, Need, Takes};

/// A table, or a list of tables, of the file.
pub struct Section {
    /// Its key; empty for the top of the file.
    pub name: &'static str,
    /// How often it may occur.
    pub repeats: Repeats,
    /// What it is for.
    pub about: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

/// How often a section may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// `[name]`.
    Once,
    /// `[[name]]`.
    Often,
}

impl Section {
    /// As it is written: `[name]` or `[[name]]`.
    pub fn heading(&self) -> String {
        match self.repeats {
            Repeats::Once => format!("[{}]", self.name),
            Repeats::Often => format!("[[{}]]", self.name),
        }
    }
}

pub(super) const fn required(
    name: &'static str,
    takes: Takes,
    example: &'static str,
    about: &'static str,
) -> Key {
    Key { name, takes, need: Need::Required, about, example }
}

pub(super) const fn optional(
    name: &'static str,
    takes: Takes,
    example: &'static str,
    usual: &'static str,
    about: &'static str,
) -> Key {
    Key { name, takes, need: Need::Optional(usual), about, example }
}

/// A key that is a factor: its name and its default are the factor's.
pub(super) const fn of_factor(
    factor: Factor,
    takes: Takes,
    example: &'static str,
    about: &'static str,
) -> Key {
    optional(factor.key(), takes, example, factor.default_text(), about)
}
