//! Presentation of the kernel functions of a run.

use super::KernelFunctionRow;
use crate::instrument::syscalls::CallPercentiles;
use crate::instrument::timed_calls::{CallView, TimedCall};
use crate::instrument_view::{InstrumentView, Value};
use crate::observation::Observation;

const HEADINGS: [&str; 6] = ["function", "count", "median", "p99", "max", "total"];

const VIEW: CallView<KernelFunctionRow> =
    CallView { kind: "kernel functions", headings: &HEADINGS, max_drawn: 1, call };

/// Builds a table for each role, and the time distribution of its costliest function.
pub(super) fn views(observations: &[Observation]) -> Vec<InstrumentView> {
    VIEW.views(observations)
}

fn call(row: KernelFunctionRow) -> TimedCall {
    TimedCall {
        cells: Vec::from(cells(&row)),
        name: row.function,
        count: row.count,
        total_ns: row.total_ns,
        times_ns: row.log2_histogram_ns,
    }
}

fn cells(row: &KernelFunctionRow) -> [Value; HEADINGS.len()] {
    let time = |percentile: fn(&CallPercentiles) -> u64| {
        row.percentiles_ns.as_ref().map_or(Value::Absent, |times| Value::Ns(percentile(times)))
    };
    [
        Value::Text(row.function.clone()),
        Value::Count(row.count),
        time(|times| times.p50),
        time(|times| times.p99),
        time(|times| times.max),
        Value::Ns(row.total_ns),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: CallPercentiles = CallPercentiles { p50: 150, p90: 160, p99: 170, max: 180 };

    fn row(function: &str, count: u64, total_ns: u64) -> KernelFunctionRow {
        KernelFunctionRow {
            function: function.to_owned(),
            count,
            lost_calls: 0,
            total_ns,
            min_ns: (count > 0).then_some(140),
            log2_histogram_ns: vec![(128, count)],
            percentiles_ns: (count > 0).then_some(TIMES),
        }
    }

    #[test]
    fn each_role_has_its_table_and_its_costliest_function() {
        let rows = [
            ("sender", "futex_wake", 1),
            ("receiver", "pipe_read", 5),
            ("sender", "pipe_write", 9),
        ];
        let seen =
            rows.map(|(role, name, ns)| Observation::from_row(Some(role), &row(name, 2, ns)));
        let pictures = views(&seen);
        let [
            InstrumentView::Table(table),
            InstrumentView::Log2Histogram(drawn),
            InstrumentView::Table(_),
            _,
        ] = &pictures[..]
        else {
            panic!("{pictures:?}");
        };
        assert_eq!(table.title, "kernel functions of the sender");
        assert_eq!(table.rows[0][0], Value::Text("pipe_write".to_owned()));
        assert_eq!(table.rows[1][5], Value::Ns(1));
        assert_eq!(drawn.title, "pipe_write of the sender: distribution of times");
        assert_eq!(drawn.rows, [(128, 2)]);
    }

    #[test]
    fn what_was_missed_altogether_has_no_times() {
        let seen = [Observation::from_row(Some("sender"), &row("pipe_write", 0, 0))];
        let [InstrumentView::Table(table)] = &views(&seen)[..] else { panic!("a table alone") };
        assert_eq!(table.rows[0][2..5], [const { Value::Absent }; 3]);
    }
}
