//! System calls as measured by a comparison tool: one row for each role and call.

use serde::{Deserialize, Serialize};

use crate::instrument_view::{InstrumentView, Table, Value};
use crate::observation::Observation;

/// One system call of one role in the measured phase. Times are as the tool measures them, between its probes (or
/// ptrace stops) at the entry and the return of the call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallRow {
    /// Name of the call.
    pub syscall: String,
    /// Number of calls that began and returned.
    pub count: u64,
    /// Number of calls that failed.
    pub errors: Option<u64>,
    /// Sum of the returned bytes; `None` where the call returns something else.
    pub returned_bytes: Option<u64>,
    /// Total time of the calls, ns.
    pub total_ns: Option<u64>,
    /// Mean time, ns.
    pub mean_ns: Option<u64>,
    /// Median time, ns.
    pub median_ns: Option<u64>,
    /// Histogram of the times over powers of two: lower bound of each row, ns, and its count.
    pub log2_histogram_ns: Option<Vec<(u64, u64)>>,
}

/// Builds one table for each role.
pub fn tables(tool: &str, observations: &[Observation]) -> Vec<InstrumentView> {
    let mut tables: Vec<(&str, Table)> = Vec::new();
    for observation in observations {
        let Some((role, row)) = observation.role.as_deref().zip(observation.row::<ToolCallRow>())
        else {
            continue;
        };
        match tables.last_mut().filter(|last| last.0 == role) {
            Some((_, table)) => table.rows.push(cells(row)),
            None => tables.push((role, table(tool, role, row))),
        }
    }
    tables.into_iter().map(|(_, table)| InstrumentView::Table(table)).collect()
}

fn table(tool: &str, role: &str, first: ToolCallRow) -> Table {
    let headings = ["call", "count", "errors", "returned", "median", "mean", "total"];
    let title = format!("{role}: system calls as measured by {tool}");
    Table::new(title, &headings, vec![cells(first)])
}

fn cells(row: ToolCallRow) -> Vec<Value> {
    let or_absent = |value: Option<u64>, kind: fn(u64) -> Value| value.map_or(Value::Absent, kind);
    vec![
        Value::Text(row.syscall),
        Value::Count(row.count),
        or_absent(row.errors, Value::Count),
        or_absent(row.returned_bytes, Value::Bytes),
        or_absent(row.median_ns, Value::Ns),
        or_absent(row.mean_ns, Value::Ns),
        or_absent(row.total_ns, Value::Ns),
    ]
}
