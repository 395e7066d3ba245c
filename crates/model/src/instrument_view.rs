//! What an instrument saw, as people look at it: tables, distributions, time lines. Whoever shows a
//! picture decides on fonts, colours and units of print; values are in the units that they name.

use serde::{Deserialize, Serialize};

/// One picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Picture {
    /// Rows under headings.
    Table(Table),
    /// How often values fell between powers of two: what `quantize` of `DTrace` draws.
    Quantised(Quantised),
    /// Who did what when.
    Timeline(Timeline),
}

/// Rows under headings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// One heading for each column.
    pub headings: Vec<String>,
    /// Rows, each as long as the headings.
    pub rows: Vec<Vec<Value>>,
}

/// What stands in a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Words.
    Text(String),
    /// A count.
    Count(u64),
    /// A time, ns.
    Ns(u64),
    /// Bytes.
    Bytes(u64),
    /// A share of 1.
    Share(f64),
    /// What could not be had.
    Absent,
}

/// How often values fell between powers of two.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantised {
    /// What it shows.
    pub title: String,
    /// What the values are: `Value::Ns(0)` for times, `Value::Bytes(0)` for bytes.
    pub kind: Value,
    /// The least value of a row, and how often one fell between it and the next row's.
    pub rows: Vec<(u64, u64)>,
}

/// Who did what when.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// What it shows.
    pub title: String,
    /// Where it ends, ns after its beginning.
    pub end_ns: u64,
    /// One for each role.
    pub lanes: Vec<Lane>,
}

/// The line of one role.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// Whose.
    pub label: String,
    /// What it did, in order; gaps are not known.
    pub spans: Vec<Span>,
}

/// A stretch in which a role did one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its beginning, ns after the picture's.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// What was done.
    pub state: State,
}

/// What a role can be at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It has a CPU.
    Running,
    /// It waits for a CPU.
    Runnable,
    /// It waits for something else.
    Asleep,
}
