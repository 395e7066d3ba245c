//! Presentation of the kernel functions of a run.

use super::Row;
use crate::instrument::syscalls::Percentiles;
use crate::instrument::timed_calls::{CallView, TimedCall};
use crate::instrument_view::{Picture, Value};
use crate::observation::Observation;

const HEADINGS: [&str; 6] = ["function", "count", "median", "p99", "longest", "total"];

const VIEW: CallView<Row> =
    CallView { kind: "kernel functions", headings: &HEADINGS, most_drawn: 1, call };

/// Builds a table for each role, and the time distribution of its costliest function.
pub(super) fn pictures(observations: &[Observation]) -> Vec<Picture> {
    VIEW.pictures(observations)
}

fn call(row: Row) -> TimedCall {
    TimedCall {
        cells: Vec::from(cells(&row)),
        name: row.function,
        count: row.count,
        total_ns: row.total_ns,
        times_ns: row.quantised_ns,
    }
}

fn cells(row: &Row) -> [Value; HEADINGS.len()] {
    let time = |of: fn(&Percentiles) -> u64| {
        row.percentiles_ns.as_ref().map_or(Value::Absent, |times| Value::Ns(of(times)))
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

    const TIMES: Percentiles = Percentiles { p50: 150, p90: 160, p99: 170, max: 180 };

    fn row(function: &str, count: u64, total_ns: u64) -> Row {
        Row {
            function: function.to_owned(),
            count,
            missed_calls: 0,
            total_ns,
            least_ns: (count > 0).then_some(140),
            quantised_ns: vec![(128, count)],
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
        let seen = rows.map(|(role, name, ns)| Observation::of(Some(role), &row(name, 2, ns)));
        let pictures = pictures(&seen);
        let [Picture::Table(table), Picture::Quantised(drawn), Picture::Table(_), _] =
            &pictures[..]
        else {
            panic!("{pictures:?}");
        };
        assert_eq!(table.title, "kernel functions of the sender");
        assert_eq!(table.rows[0][0], Value::Text("pipe_write".to_owned()));
        assert_eq!(table.rows[1][5], Value::Ns(1));
        assert_eq!(drawn.title, "pipe_write of the sender: how long it took");
        assert_eq!(drawn.rows, [(128, 2)]);
    }

    #[test]
    fn what_was_missed_altogether_has_no_times() {
        let seen = [Observation::of(Some("sender"), &row("pipe_write", 0, 0))];
        let [Picture::Table(table)] = &pictures(&seen)[..] else { panic!("a table alone") };
        assert_eq!(table.rows[0][2..5], [const { Value::Absent }; 3]);
    }
}
