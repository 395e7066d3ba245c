//! Table of the time on and off CPU, the context switches and the page faults of each role.

use comfy_table::CellAlignment;
use ipcperf_model::instrument::rusage::RusageRow;
use ipcperf_model::instrument::sched::SchedRow;
use ipcperf_model::instrument_view::Value;
use ipcperf_model::observation::{Observation, rows_of};

use crate::terminal::cells::new_table;
use crate::terminal::clip::{CutAt, clip};
use crate::terminal::instrument_views::value_text;

const HEADINGS: [&str; 7] =
    ["role", "on CPU", "runnable", "asleep", "voluntary", "involuntary", "faults"];
/// Maximum width of the name of a role.
const MAX_NAME_WIDTH: usize = 16;

/// Formats a row for each of `roles` that the scheduler or `getrusage` accounted for; `None` if there are none.
pub(super) fn role_times(
    roles: &[&str],
    observations: &[Observation],
    columns: usize,
) -> Option<String> {
    let rows: Vec<_> = roles.iter().filter_map(|role| row(role, observations)).collect();
    if rows.is_empty() {
        return None;
    }
    let mut table = new_table(columns);
    table.set_header(HEADINGS);
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    Some(format!("Time, context switches (voluntary, involuntary) and minor page faults\n{table}"))
}

/// Returns the cells of `role`. The scheduler's own events are preferred, because they are exact.
fn row(role: &str, observations: &[Observation]) -> Option<[String; HEADINGS.len()]> {
    let sched = rows_of::<SchedRow>(observations, role).into_iter().next();
    let usage = rows_of::<RusageRow>(observations, role).into_iter().next();
    if sched.is_none() && usage.is_none() {
        return None;
    }
    let either = |of_sched: fn(&SchedRow) -> u64, of_usage: fn(&RusageRow) -> Option<u64>| {
        sched.as_ref().map(of_sched).or_else(|| usage.as_ref().and_then(of_usage))
    };
    let times = [
        either(|sched| sched.on_cpu_ns, |usage| usage.cpu_ns),
        either(|sched| sched.runnable_ns, |usage| usage.run_delay_ns),
        either(|sched| sched.asleep_ns, |_| None),
    ];
    let counts = [
        either(|sched| sched.voluntary_switches, |usage| Some(usage.voluntary_switches)),
        either(|sched| sched.involuntary_switches, |usage| Some(usage.involuntary_switches)),
        usage.as_ref().map(|usage| usage.minor_faults),
    ];
    let [on_cpu, runnable, asleep] = times.map(|time| cell(time, Value::Ns));
    let [voluntary, involuntary, faults] = counts.map(|count| cell(count, Value::Count));
    let role = clip(role, MAX_NAME_WIDTH, CutAt::Character);
    Some([role, on_cpu, runnable, asleep, voluntary, involuntary, faults])
}

fn cell(value: Option<u64>, kind: fn(u64) -> Value) -> String {
    value_text(&value.map_or(Value::Absent, kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::trace_screen::test_rows::usage_row;

    fn observations() -> Vec<Observation> {
        let sched = SchedRow {
            on_cpu_ns: 3_000_000,
            runnable_ns: 20_000,
            asleep_ns: 1_000_000,
            voluntary_switches: 255,
            ..SchedRow::default()
        };
        let usage = usage_row();
        vec![
            Observation::from_row(Some("sender"), &sched),
            Observation::from_row(Some("sender"), &usage),
            Observation::from_row(Some("receiver"), &usage),
        ]
    }

    #[test]
    fn the_scheduler_is_preferred_and_what_nobody_counted_is_absent() {
        let sender = row("sender", &observations());
        let cells = ["sender", "3.00 ms", "20.0 µs", "1.00 ms", "255", "0", "42"];
        assert_eq!(sender, Some(cells.map(str::to_owned)));
        let receiver = row("receiver", &observations());
        let cells = ["receiver", "2.00 µs", "-", "-", "7", "8", "42"];
        assert_eq!(receiver, Some(cells.map(str::to_owned)));
        assert_eq!(role_times(&["broker"], &observations(), 80), None);
    }

    #[test]
    fn a_row_is_one_line_on_80_columns() {
        let text = role_times(&["sender", "receiver"], &observations(), 80).expect("a table");
        assert_eq!(text.lines().count(), 5, "{text}");
    }
}
