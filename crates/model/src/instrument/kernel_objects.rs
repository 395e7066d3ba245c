//! `kernel-objects`: what the kernel may hold between the parties, as it was asked for, granted, and has become
//! at the end. The parties look at their own, before their first phase and after their last: nothing of it
//! is in the timed region, and nobody else holds a descriptor of theirs.

use serde::{Deserialize, Serialize};

use super::{Disturbs, InstrumentFacts};
use crate::instrument_view::{Picture, Table, Value};
use crate::observation::Observation;

/// What readers know of `kernel-objects`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "kernel-objects", disturbs: Disturbs::No, pictures };

/// One limit of one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its number: of a descriptor, or of a queue.
    pub number: i64,
    /// What it is: `pipe`, `unix stream socket`, `message queue` ...
    pub object: String,
    /// Which of its limits: `capacity`, `send buffer`, `receive buffer`, `size`. Those of sockets are as
    /// `getsockopt` has them: twice what was set, for the kernel's own needs.
    pub limit: String,
    /// What was asked of the kernel, bytes; `None` leaves its default.
    pub asked_bytes: Option<u64>,
    /// What it granted, bytes; `None` where the object came to be later.
    pub before_bytes: Option<u64>,
    /// What that has become at the end, bytes; `None` where the object is gone.
    pub after_bytes: Option<u64>,
}

const HEADINGS: [&str; 7] = ["role", "object", "number", "limit", "asked", "granted", "at the end"];

fn pictures(told: &[Observation]) -> Vec<Picture> {
    let rows: Vec<_> =
        told.iter().filter_map(|one| Some(cells(one.role.as_deref(), one.row()?))).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let headings = HEADINGS.map(str::to_owned).to_vec();
    let title = "what the kernel may hold between the parties".to_owned();
    vec![Picture::Table(Table { title, headings, rows })]
}

fn cells(role: Option<&str>, row: Row) -> Vec<Value> {
    let bytes = |bytes: Option<u64>| bytes.map_or(Value::Absent, Value::Bytes);
    vec![
        Value::Text(role.unwrap_or("both, in one process").to_owned()),
        Value::Text(row.object),
        Value::Text(row.number.to_string()),
        Value::Text(row.limit),
        bytes(row.asked_bytes),
        bytes(row.before_bytes),
        bytes(row.after_bytes),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_has_a_row() {
        let row = Row {
            number: 5,
            object: "pipe".to_owned(),
            limit: "capacity".to_owned(),
            asked_bytes: None,
            before_bytes: Some(65_536),
            after_bytes: Some(65_536),
        };
        let told = [Observation::of(Some("sender"), &row), Observation::of(None, &row)];
        let [Picture::Table(table)] = &pictures(&told)[..] else { panic!("one table") };
        assert_eq!(table.rows[0][4..], [Value::Absent, Value::Bytes(65_536), Value::Bytes(65_536)]);
        assert!(table.rows.iter().all(|cells| cells.len() == table.headings.len()));
    }
}
