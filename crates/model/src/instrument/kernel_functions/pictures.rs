//! The functions of a run as people look at them.

use super::Row;
use crate::instrument::syscalls::Percentiles;
use crate::instrument_view::{Picture, Quantised, Table, Value};
use crate::observation::{Observation, roles, rows_of};

const HEADINGS: [&str; 6] = ["function", "count", "median", "p99", "longest", "total"];

/// A table for each role, and how the times of its costliest function are distributed.
pub(super) fn of(observations: &[Observation]) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for role in roles(observations) {
        let mut rows: Vec<Row> = rows_of(observations, role);
        rows.sort_by_key(|row| std::cmp::Reverse(row.total_ns));
        pictures.push(Picture::Table(table(role, &rows)));
        let costliest = rows.first().filter(|row| row.count > 0);
        pictures.extend(costliest.map(|row| Picture::Quantised(distribution(role, row))));
    }
    pictures
}

fn table(role: &str, rows: &[Row]) -> Table {
    Table {
        title: format!("kernel functions of the {role}"),
        headings: HEADINGS.map(str::to_owned).to_vec(),
        rows: rows.iter().map(|row| line(row).to_vec()).collect(),
    }
}

fn line(row: &Row) -> [Value; HEADINGS.len()] {
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

fn distribution(role: &str, row: &Row) -> Quantised {
    Quantised {
        title: format!("{} of the {role}: how long it took", row.function),
        kind: Value::Ns(0),
        rows: row.quantised_ns.clone(),
    }
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
        let pictures = of(&seen);
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
        let [Picture::Table(table)] = &of(&seen)[..] else { panic!("a table alone") };
        assert_eq!(table.rows[0][2..5], [const { Value::Absent }; 3]);
    }
}
