//! What a section of a study file is.

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
