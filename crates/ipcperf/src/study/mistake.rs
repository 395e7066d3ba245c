//! What is wrong with a study's file: where, with which key, and what to do about it.

use std::fmt;

use serde::Serialize;

/// One mistake in a study's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Mistake {
    /// The line of the file, from 1.
    pub(crate) line: usize,
    /// Which key, by its path: `hypothesis[2].test`. Of a list of tables the first has number 1.
    pub(crate) key: String,
    /// What is wrong.
    pub(crate) what: String,
    /// What would be right.
    pub(crate) remedy: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}; {}", self.line, self.key, self.what, self.remedy)
    }
}

/// The mistakes found so far: reading goes on after each, so that all are told at once.
#[derive(Debug, Default)]
pub(crate) struct Mistakes(Vec<Mistake>);

impl Mistakes {
    pub(crate) fn add(
        &mut self,
        (line, key): (usize, &str),
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let (key, what, remedy) = (key.to_owned(), what.into(), remedy.into());
        self.0.push(Mistake { line, key, what, remedy });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is one in a table of `section`.
    pub(crate) fn any_of(&self, section: &str) -> bool {
        self.0.iter().any(|mistake| mistake.key.starts_with(section))
    }

    /// All of them, by line.
    pub(crate) fn sorted(mut self) -> Vec<Mistake> {
        self.0.sort_by_key(|mistake| mistake.line);
        self.0
    }
}
