//! Hypotheses and their tests on measured results.
//!
//! ```text
//! Study -> Claim --+
//!                  +-> Test -> Parts (each with its evidence) -> Verdict
//! Results -> Cells, Lines --+
//! ```

mod always_from;
mod case_data;
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
mod judge;
mod keys;
mod line;
mod operands;
mod outcome;
mod picture;
mod plateaus_at;
mod plot_lines;
mod ratio_within;
mod rises;
mod rises_then_falls;
mod same_shape;
mod sequential;
mod share_at_least;
mod slope;
#[cfg(test)]
mod test_data;
mod verdict;

pub use case_data::Cells;
pub use claim::{Claim, check_cases};
pub use drift::Drift;
pub use evidence::{Estimate, EstimateKind, Level, Part, Place, Rule};
pub use judge::{decided_cases, judge};
pub use line::{Line, Point, lines, lost_lines};
pub use outcome::{Correction, Verdict};
pub use picture::{BetterNote, Caption, Picture, Together};
pub use plot_lines::{Shown, shown};
pub use verdict::{Found, Judged};

use crate::Key;

/// A statistical test that a claim can name.
pub struct Test {
    /// Name in study files and in tables.
    pub name: &'static str,
    /// Purpose, in one sentence.
    pub about: &'static str,
    /// Method of computation.
    pub formula: &'static str,
    /// Assumptions on which its validity depends.
    pub assumptions: &'static str,
    /// References.
    pub source: &'static str,
    /// Keys of a hypothesis that are specific to this test.
    pub keys: &'static [Key],
    /// Layout of the figure for a claim that uses it.
    pub picture: Picture,
    /// Judges `claim` on the measured cells.
    pub find: fn(&Claim, &Cells<'_>) -> Found,
}

impl Test {
    /// Whether `key` is specific to this test.
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|known| known.name == key)
    }
}

/// The tests, in the order of the documentation.
pub const TESTS: &[&Test] = &[
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
