//! What is wrong with a study's file: where, with which key, and what to do about it.

use std::fmt;

use serde::Serialize;

/// One mistake in a study's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// The line of the file, from 1.
    pub line: usize,
    /// Which key, by its path: `hypothesis[2].test`. Of a list of tables the first has number 1.
    pub key: String,
    /// What is wrong.
    pub what: String,
    /// What would be right.
    pub remedy: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}; {}", self.line, self.key, self.what, self.remedy)
    }
}

/// More mistakes than this nobody reads.
const MOST: usize = 100;
/// Characters of each part of a mistake: it is one line.
const LONGEST_KEY: usize = 120;
const LONGEST_WHAT: usize = 250;
const LONGEST_REMEDY: usize = 500;

/// `text` in one line of at most `most` characters: a file may hold anything.
fn plain(text: &str, most: usize) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    let short: String = text.chars().map(plain).take(most).collect();
    if text.chars().nth(most).is_some() { short + "..." } else { short }
}

/// The mistakes found so far: reading goes on after each, so that all are told at once.
#[derive(Debug, Default)]
pub struct Mistakes(Vec<Mistake>);

impl Mistakes {
    /// Adds a mistake at `place`: what is wrong, and what would be right.
    pub fn add(
        &mut self,
        (line, key): (usize, &str),
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let (what, remedy) = (what.into(), remedy.into());
        let (key, what) = (plain(key, LONGEST_KEY), plain(&what, LONGEST_WHAT));
        let remedy = plain(&remedy, LONGEST_REMEDY);
        self.0.push(Mistake { line, key, what, remedy });
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is one in a table of `section`.
    pub fn any_of(&self, section: &str) -> bool {
        self.0.iter().any(|mistake| mistake.key.starts_with(section))
    }

    /// All of them, by line; the first of them, and how many more there are, where nobody would read all.
    pub fn sorted(mut self) -> Vec<Mistake> {
        self.0.sort_by_key(|mistake| mistake.line);
        let more = self.0.len().saturating_sub(MOST);
        if let Some(last) = self.0.get_mut(MOST) {
            last.what = format!("here and below are {more} more mistakes");
            "mend those above first".clone_into(&mut last.remedy);
        }
        self.0.truncate(MOST + 1);
        self.0
    }
}
