//! The calls of a run as people look at them.

use super::Row;
use crate::instrument_view::{Picture, Quantised, Table, Value};
use crate::observation::{Observation, roles, rows_of};

/// How many calls of each role have their distribution drawn: those that took most of its time.
const DRAWN: usize = 2;

const HEADINGS: [&str; 9] = [
    "call",
    "count",
    "bytes asked",
    "bytes returned",
    "errors",
    "median",
    "p99",
    "longest",
    "total",
];

/// A table for each role, and how the times of its costliest calls are distributed.
pub(super) fn of(observations: &[Observation]) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for role in roles(observations) {
        let mut rows: Vec<Row> = rows_of(observations, role);
        rows.sort_by_key(|row| std::cmp::Reverse(row.total_ns));
        pictures.push(Picture::Table(table(role, &rows)));
        let drawn = rows.iter().take(DRAWN);
        pictures.extend(drawn.map(|row| Picture::Quantised(distribution(role, row))));
    }
    pictures
}

fn table(role: &str, rows: &[Row]) -> Table {
    Table {
        title: format!("system calls of the {role}"),
        headings: HEADINGS.map(str::to_owned).to_vec(),
        rows: rows.iter().map(|row| line(row).to_vec()).collect(),
    }
}

fn line(row: &Row) -> [Value; HEADINGS.len()] {
    let bytes = |bytes: Option<u64>| bytes.map_or(Value::Absent, Value::Bytes);
    [
        Value::Text(row.syscall.clone()),
        Value::Count(row.count),
        bytes(row.requested_bytes),
        bytes(row.returned_bytes),
        Value::Count(row.errors),
        Value::Ns(row.percentiles_ns.p50),
        Value::Ns(row.percentiles_ns.p99),
        Value::Ns(row.percentiles_ns.max),
        Value::Ns(row.total_ns),
    ]
}

fn distribution(role: &str, row: &Row) -> Quantised {
    Quantised {
        title: format!("{} of the {role}: how long it took", row.syscall),
        kind: Value::Ns(0),
        rows: row.quantised_ns.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Percentiles;
    use super::*;

    fn row(syscall: &str, total_ns: u64) -> Row {
        Row {
            syscall: syscall.to_owned(),
            number: Some(1),
            count: 2,
            requested_bytes: Some(64),
            returned_bytes: None,
            errors: 0,
            quantised_ns: vec![(128, 2)],
            percentiles_ns: Percentiles { p50: 150, p90: 160, p99: 170, max: 180 },
            total_ns,
            least_ns: 140,
            quantised_returned: vec![(0, 2)],
        }
    }

    #[test]
    fn each_role_has_its_table_and_its_costliest_calls() {
        let rows = [("sender", "poll", 1), ("receiver", "read", 5), ("sender", "write", 9)];
        let seen = rows.map(|(role, call, ns)| Observation::of(Some(role), &row(call, ns)));
        let pictures = of(&seen);
        let [Picture::Table(table), Picture::Quantised(write), Picture::Quantised(_), ..] =
            &pictures[..]
        else {
            panic!("{pictures:?}");
        };
        assert_eq!(pictures.len(), 5);
        assert_eq!(table.rows[0][0], Value::Text("write".to_owned()));
        assert_eq!(table.rows[0][3], Value::Absent);
        assert_eq!(table.rows[0][7], Value::Ns(180));
        assert_eq!(write.title, "write of the sender: how long it took");
        assert_eq!(write.rows, [(128, 2)]);
    }
}
