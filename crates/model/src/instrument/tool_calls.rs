//! What a tool for comparison says of system calls: a row for each role and call.

use serde::{Deserialize, Serialize};

use crate::instrument_view::{Picture, Table, Value};
use crate::observation::Observation;

/// What a role did by one system call in the phase that counted. Times are as the tool measured them: from
/// its probe, or its stop, at the call's entry to that at its return.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// The call.
    pub syscall: String,
    /// How many began and returned.
    pub count: u64,
    /// How many of them failed.
    pub errors: Option<u64>,
    /// What they returned altogether, bytes; `None` where the call returns something else.
    pub returned_bytes: Option<u64>,
    /// Time in all of them, ns.
    pub total_ns: Option<u64>,
    /// Mean time, ns.
    pub mean_ns: Option<u64>,
    /// Median time, ns.
    pub median_ns: Option<u64>,
    /// How often a time fell between powers of two: the least of a row, ns, and the count.
    pub quantised_ns: Option<Vec<(u64, u64)>>,
}

/// A table for each role.
pub fn tables(tool: &str, observations: &[Observation]) -> Vec<Picture> {
    let mut tables: Vec<(&str, Table)> = Vec::new();
    for observation in observations {
        let Some((role, row)) = observation.role.as_deref().zip(observation.row::<Calls>()) else {
            continue;
        };
        match tables.last_mut().filter(|last| last.0 == role) {
            Some((_, table)) => table.rows.push(cells(row)),
            None => tables.push((role, table(tool, role, row))),
        }
    }
    tables.into_iter().map(|(_, table)| Picture::Table(table)).collect()
}

fn table(tool: &str, role: &str, first: Calls) -> Table {
    let headings = ["call", "count", "errors", "returned", "median", "mean", "total"];
    Table {
        title: format!("{role}: system calls as {tool} sees them"),
        headings: headings.map(str::to_owned).to_vec(),
        rows: vec![cells(first)],
    }
}

fn cells(row: Calls) -> Vec<Value> {
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
