//! Presentation of the data of an instrument as tables, distributions and time lines. The code that displays a
//! picture chooses fonts, colours and display units; the values here are in the units that their types name.

use serde::{Deserialize, Serialize};

/// Picture of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum InstrumentView {
    /// Rows under headings.
    Table(Table),
    /// Histogram over powers of two, like the output of `quantize` in `DTrace`.
    Log2Histogram(Log2Histogram),
    /// States of each role over time.
    Timeline(Timeline),
}

/// Table with headings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Title of the table.
    pub title: String,
    /// Headings, one for each column.
    pub headings: Vec<String>,
    /// Rows, each as long as the headings.
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    /// Builds a table of `rows`, each as long as `headings`.
    pub(crate) fn new(title: impl Into<String>, headings: &[&str], rows: Vec<Vec<Value>>) -> Self {
        let headings = headings.iter().map(|&heading| heading.to_owned()).collect();
        Self { title: title.into(), headings, rows }
    }
}

/// Content of one cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// Count.
    Count(u64),
    /// Time, ns.
    Ns(u64),
    /// Bytes.
    Bytes(u64),
    /// Fraction of 1.
    Share(f64),
    /// Value that could not be determined.
    Absent,
}

/// Histogram over powers of two.
#[derive(Clone, Debug, PartialEq)]
pub struct Log2Histogram {
    /// Title of the histogram.
    pub title: String,
    /// Kind of the values: `Value::Ns(0)` for times, `Value::Bytes(0)` for bytes.
    pub kind: Value,
    /// Lower bound of each row, and the number of values between it and the lower bound of the next row.
    pub rows: Vec<(u64, u64)>,
}

/// Time line of several roles.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Title of the time line.
    pub title: String,
    /// End of the time line, ns after its start.
    pub end_ns: u64,
    /// Lanes, one for each role.
    pub lanes: Vec<Lane>,
}

/// Lane of one role.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// Role that the lane belongs to.
    pub label: String,
    /// Activities in order; nothing is known about the gaps between them.
    pub spans: Vec<Span>,
}

/// Period in which a role was in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Start, ns after the start of the time line.
    pub from_ns: u64,
    /// End, ns after the start of the time line.
    pub to_ns: u64,
    /// State during the period.
    pub state: State,
}

/// Scheduling state of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The role runs on a CPU.
    Running,
    /// The role waits for a CPU.
    Runnable,
    /// The role waits for something other than a CPU.
    Asleep,
}
