//! `kernel-objects`: buffer limits of the kernel between the peers, as requested, as granted, and at the end of the
//! run. Each peer reads its own, before its first phase and after its last, because no other process holds its
//! descriptors. Nothing of this is in the timed region.

use serde::{Deserialize, Serialize};

use super::{InstrumentFacts, Intrusive};
use crate::instrument_view::{InstrumentView, Table, Value};
use crate::observation::Observation;

/// Description of `kernel-objects`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "kernel-objects", intrusive: Intrusive::No, views };

/// Limit of one kernel object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelObjectRow {
    /// Number of the descriptor or of the queue.
    pub number: i64,
    /// Kind of object: `pipe`, `unix stream socket`, `message queue` ...
    pub object: String,
    /// Name of the limit: `capacity`, `send buffer`, `receive buffer`, `size`. Buffer sizes of sockets are as
    /// `getsockopt` returns them: twice the value that was set, which leaves the kernel room for its own data.
    pub limit: String,
    /// Value requested from the kernel, bytes; `None` keeps the kernel's default.
    pub requested_bytes: Option<u64>,
    /// Value granted by the kernel, bytes; `None` if the object was created later.
    pub before_bytes: Option<u64>,
    /// Value at the end, bytes; `None` if the object no longer exists.
    pub after_bytes: Option<u64>,
}

const HEADINGS: [&str; 7] = ["role", "object", "number", "limit", "requested", "granted", "final"];

fn views(observations: &[Observation]) -> Vec<InstrumentView> {
    let rows: Vec<_> = observations
        .iter()
        .filter_map(|one| Some(cells(one.role.as_deref(), one.row()?)))
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![InstrumentView::Table(Table::new("kernel buffers between the peers", &HEADINGS, rows))]
}

fn cells(role: Option<&str>, row: KernelObjectRow) -> Vec<Value> {
    let bytes = |bytes: Option<u64>| bytes.map_or(Value::Absent, Value::Bytes);
    vec![
        Value::Text(role.unwrap_or("both (one process)").to_owned()),
        Value::Text(row.object),
        Value::Text(row.number.to_string()),
        Value::Text(row.limit),
        bytes(row.requested_bytes),
        bytes(row.before_bytes),
        bytes(row.after_bytes),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_has_a_row() {
        let row = KernelObjectRow {
            number: 5,
            object: "pipe".to_owned(),
            limit: "capacity".to_owned(),
            requested_bytes: None,
            before_bytes: Some(65_536),
            after_bytes: Some(65_536),
        };
        let told = [Observation::from_row(Some("sender"), &row), Observation::from_row(None, &row)];
        let [InstrumentView::Table(table)] = &views(&told)[..] else { panic!("one table") };
        assert_eq!(table.rows[0][4..], [Value::Absent, Value::Bytes(65_536), Value::Bytes(65_536)]);
        assert!(table.rows.iter().all(|cells| cells.len() == table.headings.len()));
    }
}
