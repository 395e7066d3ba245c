//! Mistakes in a study file: location, key, description and remedy.

use std::fmt;

use serde::Serialize;

/// A mistake in a study file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// Line in the file, from 1.
    pub line: usize,
    /// Path of the key, such as `hypothesis[2].test`. The first table of a list has number 1.
    pub key: String,
    /// Description of the mistake.
    pub what: String,
    /// How to fix it.
    pub remedy: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}; {}", self.line, self.key, self.what, self.remedy)
    }
}

/// Maximum number of mistakes reported.
const MAX_MISTAKES: usize = 100;
/// Maximum number of characters of the parts of a mistake, which is printed on one line.
const MAX_KEY_CHARS: usize = 120;
const MAX_WHAT_CHARS: usize = 250;
const MAX_REMEDY_CHARS: usize = 500;

/// Returns `text` on one line of at most `max_chars` characters. Control characters become spaces, because a file may
/// contain anything.
fn one_line(text: &str, max_chars: usize) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    let short: String = text.chars().map(plain).take(max_chars).collect();
    if text.chars().nth(max_chars).is_some() { short + "..." } else { short }
}

/// The mistakes found so far. Reading continues after each, so that all are reported at once.
#[derive(Debug, Default)]
pub struct Mistakes(Vec<Mistake>);

impl Mistakes {
    /// Adds a mistake at `place`.
    pub fn add(
        &mut self,
        (line, key): (usize, &str),
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let (what, remedy) = (what.into(), remedy.into());
        let (key, what) = (one_line(key, MAX_KEY_CHARS), one_line(&what, MAX_WHAT_CHARS));
        let remedy = one_line(&remedy, MAX_REMEDY_CHARS);
        self.0.push(Mistake { line, key, what, remedy });
    }

    /// Whether there are no mistakes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is a mistake in a table of `section`.
    pub fn has_in(&self, section: &str) -> bool {
        self.0.iter().any(|mistake| mistake.key.starts_with(section))
    }

    /// Returns the mistakes sorted by line. Beyond the maximum, a last entry reports how many are left out.
    pub fn into_sorted(mut self) -> Vec<Mistake> {
        self.0.sort_by_key(|mistake| mistake.line);
        let more = self.0.len().saturating_sub(MAX_MISTAKES);
        if let Some(last) = self.0.get_mut(MAX_MISTAKES) {
            last.what = format!("{more} more mistakes here and below");
            "correct the mistakes above first".clone_into(&mut last.remedy);
        }
        self.0.truncate(MAX_MISTAKES + 1);
        self.0
    }
}
