//! Presentation of the system calls of a run.

use super::SyscallRow;
use crate::instrument::timed_calls::{CallView, TimedCall};
use crate::instrument_view::{InstrumentView, Value};
use crate::observation::Observation;

const HEADINGS: [&str; 9] = [
    "call",
    "count",
    "bytes requested",
    "bytes returned",
    "errors",
    "median",
    "p99",
    "max",
    "total",
];

const VIEW: CallView<SyscallRow> =
    CallView { kind: "system calls", headings: &HEADINGS, max_drawn: 2, call };

/// Builds a table for each role, and the time distributions of its two costliest calls.
pub(super) fn views(observations: &[Observation]) -> Vec<InstrumentView> {
    VIEW.views(observations)
}

fn call(row: SyscallRow) -> TimedCall {
    TimedCall {
        cells: Vec::from(cells(&row)),
        name: row.syscall,
        count: row.count,
        total_ns: row.total_ns,
        times_ns: row.log2_histogram_ns,
    }
}

fn cells(row: &SyscallRow) -> [Value; HEADINGS.len()] {
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

#[cfg(test)]
mod tests {
    use super::super::CallPercentiles;
    use super::*;

    fn row(syscall: &str, total_ns: u64) -> SyscallRow {
        SyscallRow {
            syscall: syscall.to_owned(),
            number: Some(1),
            count: 2,
            requested_bytes: Some(64),
            returned_bytes: None,
            errors: 0,
            log2_histogram_ns: vec![(128, 2)],
            percentiles_ns: CallPercentiles { p50: 150, p90: 160, p99: 170, max: 180 },
            total_ns,
            min_ns: 140,
            log2_histogram_returned: vec![(0, 2)],
        }
    }

    #[test]
    fn each_role_has_its_table_and_its_costliest_calls() {
        let rows = [("sender", "poll", 1), ("receiver", "read", 5), ("sender", "write", 9)];
        let seen = rows.map(|(role, call, ns)| Observation::from_row(Some(role), &row(call, ns)));
        let pictures = views(&seen);
        let [
            InstrumentView::Table(table),
            InstrumentView::Log2Histogram(write),
            InstrumentView::Log2Histogram(_),
            ..,
        ] = &pictures[..]
        else {
            panic!("{pictures:?}");
        };
        assert_eq!(pictures.len(), 5);
        assert_eq!(table.rows[0][0], Value::Text("write".to_owned()));
        assert_eq!(table.rows[0][3], Value::Absent);
        assert_eq!(table.rows[0][7], Value::Ns(180));
        assert_eq!(write.title, "write of the sender: distribution of times");
        assert_eq!(write.rows, [(128, 2)]);
    }
}
