//! What a tool for comparison says of system calls: a row for each role and call.

#[cfg(target_os = "linux")]
mod tally;

use serde::{Deserialize, Serialize};

use crate::Observation;
use crate::picture::{Picture, Table, Value};

#[cfg(target_os = "linux")]
pub(crate) use tally::{Tally, observations, returns_bytes};

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
pub(crate) fn tables(tool: &str, observations: &[Observation]) -> Vec<Picture> {
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

/// The rows of `role`.
#[cfg(test)]
pub(crate) fn rows(told: &[Observation], role: &str) -> Vec<Calls> {
    let told = told.iter().filter(|row| row.role.as_deref() == Some(role));
    told.map(|row| row.row().unwrap()).collect()
}

/// The one row of `role`, which makes one kind of call.
#[cfg(test)]
pub(crate) fn only_row(told: &[Observation], role: &str) -> Calls {
    let mut rows = rows(told, role);
    assert_eq!(rows.len(), 1, "{told:?}");
    rows.remove(0)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::Parties;

    #[test]
    fn each_role_has_its_table() {
        let row =
            |syscall: &str, count| Calls { syscall: syscall.to_owned(), count, ..Calls::default() };
        let member = |role: &str| crate::Member {
            role: role.to_owned(),
            pid: 1,
            tid: 1,
            scope: crate::Scope::Thread,
        };
        let parties = Parties { members: vec![member("sender"), member("receiver")] };
        let rows = vec![vec![row("futex", 1), row("write", 9)], vec![row("read", 9)]];
        let tables = tables("strace", &observations(&parties, rows));
        let [Picture::Table(sender), Picture::Table(receiver)] = &tables[..] else {
            panic!("{tables:?}")
        };
        assert_eq!(sender.rows[0][..2], [Value::Text("write".to_owned()), Value::Count(9)]);
        assert_eq!(sender.rows[0][2], Value::Absent);
        assert_eq!((sender.rows.len(), receiver.rows.len()), (2, 1));
        assert_eq!(sender.headings.len(), sender.rows[0].len());
    }
}
