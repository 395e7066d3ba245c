//! Claims, each judged by the test that it names, on what was measured.
//!
//! ```text
//! Study -> Claim --+
//!                  +-> Test -> Parts (each with its evidence) -> Verdict
//! Results -> Cells, Lines --+
//! ```

mod always_from;
mod cells;
mod claim;
mod compare;
mod complete;
mod crosses_over;
mod differs;
mod drift;
mod equivalent;
#[cfg(test)]
mod error_rates;
mod evidence;
#[cfg(test)]
mod evidence_tests;
mod faster_than;
mod flat;
mod independence;
mod interval;
mod keys;
mod line;
#[cfg(test)]
mod made;
mod plateaus_at;
mod ratio_within;
mod rises;
mod rises_then_falls;
mod same_shape;
mod sequential;
mod share_at_least;
mod shown;
mod sides;
mod slope;
mod verdict;

pub(crate) use cells::Cells;
pub(crate) use claim::{Claim, check_cases};
pub(crate) use drift::Drift;
pub(crate) use evidence::{Estimate, Part, Rule};
pub(crate) use line::{Line, Point, lines, lost_lines};
pub(crate) use sequential::decided_cases;
pub(crate) use shown::{Shown, shown};
pub(crate) use verdict::{Correction, Found, Judged, Verdict, judge};

use crate::study::Key;

/// A test that a claim can name.
pub(crate) struct Test {
    pub(crate) name: &'static str,
    /// What it finds out, in one sentence.
    pub(crate) about: &'static str,
    /// How it is reckoned.
    pub(crate) formula: &'static str,
    /// What must hold for it to be right.
    pub(crate) assumptions: &'static str,
    /// Where it is from.
    pub(crate) source: &'static str,
    /// Keys of a hypothesis that it has beside those of all.
    pub(crate) keys: &'static [Key],
    /// What it finds of `claim` in what was measured.
    pub(crate) find: fn(&Claim, &Cells<'_>) -> Found,
}

impl Test {
    /// Whether `key` is one of its own.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|known| known.name == key)
    }
}

/// The tests, in the order in which they are explained.
pub(crate) const TESTS: &[&Test] = &[
    &faster_than::TEST,
    &differs::TEST,
    &equivalent::TEST,
    &ratio_within::TEST,
    &always_from::TEST,
    &crosses_over::TEST,
    &rises::TEST,
    &rises_then_falls::TEST,
    &plateaus_at::TEST,
    &same_shape::TEST,
    &slope::TEST,
    &share_at_least::TEST,
];
