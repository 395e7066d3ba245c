//! Hypotheses and their tests on measured results.
//!
//! ```text
//! [[hypothesis]] -> ClaimTable -> Claim (with the parsed keys of its test) --+
//!                                                                            +-> Parts (with evidence) -> Verdict
//!                                         Results -> Cells, Lines -----------+
//! ```

mod always_from;
mod case_data;
mod claim;
mod claim_table;
mod compare;
mod comparison_keys;
mod complete_blocks;
mod correction;
mod crosses_over;
mod crossing_evidence;
mod differs;
mod drift;
mod equivalent;
#[cfg(test)]
mod error_rates;
mod evidence;
#[cfg(test)]
mod evidence_tests;
mod faster_than;
mod figure_layout;
mod findings;
mod independence;
mod interval;
mod judge;
mod key_values;
mod line;
mod operand_cases;
mod operands;
mod plateau;
mod plateaus_at;
mod plot_lines;
mod ratio_within;
mod rises;
mod rises_then_falls;
mod same_shape;
mod sequential;
mod share_at_least;
mod shared_keys;
mod slope;
#[cfg(test)]
mod test_data;
mod verdict;

pub use case_data::Cells;
pub use claim::Claim;
pub use claim_table::check_cases;
pub use correction::Correction;
pub use drift::Drift;
pub use evidence::{DecisionRule, Estimate, EstimateKind, Level, Part, PartScope};
pub use figure_layout::{BetterNote, Caption, FigureKeys, FigureLayout, PanelGrouping};
pub use findings::{Findings, JudgedClaim};
pub use judge::{decided_cases, judge};
pub use line::{Line, Point, lines, lost_lines};
pub use plot_lines::{LinePanel, line_panels};
pub use verdict::Verdict;

pub(crate) use claim_table::ClaimTable;

use std::fmt::Debug;
use std::sync::Arc;

use key_values::{KeyError, KeyValues};
use operand_cases::OperandCases;

use crate::{Key, Selection};

/// A statistical test that a claim can name.
pub struct Test {
    /// Name in study files and in tables.
    pub name: &'static str,
    /// Purpose, in one sentence.
    pub about: &'static str,
    /// What is computed from the samples, in sentences.
    pub estimate: &'static str,
    /// Condition of support, as the end of a sentence that begins with "supported if".
    pub supported_if: &'static str,
    /// Condition of rejection, likewise.
    pub rejected_if: &'static str,
    /// Assumptions on which its validity depends.
    pub assumptions: &'static str,
    /// References.
    pub source: &'static str,
    /// Keys of a hypothesis that are specific to this test.
    pub keys: &'static [Key],
    /// Layout of the figure for a claim that uses it.
    pub figure_layout: FigureLayout,
    /// Parses the keys of a claim that names it.
    parse: fn(&KeyValues<'_>) -> Result<Arc<dyn Judge>, KeyError>,
}

/// Parsed keys of a test, with which it judges a claim.
trait Judge: Debug + Send + Sync {
    /// Parses the keys.
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError>
    where
        Self: Sized;

    /// Judges `claim` on the measured cells.
    fn evaluate(&self, claim: &Claim, cells: &Cells<'_>) -> Findings;

    /// Returns the cases of the two sides. `None` if the test judges each line by itself.
    fn operands(&self) -> Option<&OperandCases> {
        None
    }

    /// Returns the cases whose values are taken off those of the claim.
    fn baseline(&self) -> Option<&Selection> {
        None
    }

    /// Returns the values that the figure of the claim shows.
    fn figure_keys(&self) -> FigureKeys<'_> {
        FigureKeys::default()
    }
}

/// Parses the keys of a test into `K`.
fn parse_keys<K: Judge + 'static>(keys: &KeyValues<'_>) -> Result<Arc<dyn Judge>, KeyError> {
    Ok(Arc::new(K::parse(keys)?))
}

impl Test {
    /// Whether `key` is specific to this test.
    pub fn has_key(&self, key: &str) -> bool {
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
