//! Presentation of scheduling data.

use super::row::SchedRow;
use super::slow_row::LISTED;
use super::slow_views::slow_message_tables;
use crate::instrument_view::{InstrumentView, Lane, Log2Histogram, Span, Table, Timeline, Value};
use crate::observation::Observation;

/// Builds tables of the slowest messages of a paced run, of the times, the sleeps and the wake-ups by waker, the wake-up
/// latency of each role, and the time line.
pub(super) fn views(observations: &[Observation]) -> Vec<InstrumentView> {
    let roles: Vec<(String, SchedRow)> = observations
        .iter()
        .filter_map(|observation| Some((observation.role.clone()?, observation.row()?)))
        .collect();
    if roles.is_empty() {
        return Vec::new();
    }
    let of_run = observations.iter().filter(|observation| observation.role.is_none());
    let slow = of_run
        .filter_map(|observation| Some(slow_message_tables(&observation.row()?, LISTED)))
        .flatten()
        .map(InstrumentView::Table);
    let tables = [times(&roles), sleeps(&roles), wakeups(&roles)].map(InstrumentView::Table);
    let latencies = roles.iter().filter_map(latency).map(InstrumentView::Log2Histogram);
    slow.chain(tables)
        .chain(latencies)
        .chain([InstrumentView::Timeline(timeline(&roles))])
        .collect()
}

fn times(roles: &[(String, SchedRow)]) -> Table {
    let headings = [
        "role",
        "interval",
        "on CPU",
        "runnable",
        "asleep",
        "voluntary switches",
        "involuntary switches",
        "migrations",
        "CPUs",
    ];
    let rows = roles.iter().map(|(role, row)| {
        let times = [row.interval_ns, row.on_cpu_ns, row.runnable_ns, row.asleep_ns].map(Value::Ns);
        let counts =
            [row.voluntary_switches, row.involuntary_switches, row.migrations].map(Value::Count);
        let cpus: Vec<String> = row.cpus.iter().map(u32::to_string).collect();
        let ends = [Value::Text(role.clone()), Value::Text(cpus.join(","))];
        let [first, last] = ends;
        [first].into_iter().chain(times).chain(counts).chain([last]).collect()
    });
    Table::new("Time and switches", &headings, rows.collect())
}

fn sleeps(roles: &[(String, SchedRow)]) -> Table {
    let rows = roles.iter().flat_map(|(role, row)| {
        row.sleeps.iter().map(|sleep| {
            let syscall = sleep.syscall.clone().map_or(Value::Absent, Value::Text);
            let texts = [Value::Text(role.clone()), Value::Text(sleep.state.clone()), syscall];
            let figures = [Value::Count(sleep.count), Value::Ns(sleep.asleep_ns)];
            texts.into_iter().chain(figures).collect()
        })
    });
    Table::new("Sleeps", &["role", "state", "system call", "count", "asleep"], rows.collect())
}

fn wakeups(roles: &[(String, SchedRow)]) -> Table {
    let mut wakers: Vec<&String> = roles.iter().flat_map(|(_, row)| row.woken_by.keys()).collect();
    wakers.sort_unstable();
    wakers.dedup();
    let rows = wakers.into_iter().map(|waker| {
        let counts = roles.iter().map(|(_, row)| row.woken_by.get(waker).copied().unwrap_or(0));
        std::iter::once(Value::Text(waker_name(waker))).chain(counts.map(Value::Count)).collect()
    });
    let woken = roles.iter().map(|(role, _)| &**role);
    let headings: Vec<&str> = std::iter::once("waker").chain(woken).collect();
    Table::new("Wake-ups by waker", &headings, rows.collect())
}

fn waker_name(waker: &str) -> String {
    match waker {
        "other" => "another process".to_owned(),
        "idle" => "an interrupt on an idle CPU".to_owned(),
        role => role.to_owned(),
    }
}

fn latency((role, row): &(String, SchedRow)) -> Option<Log2Histogram> {
    let rows = row.wakeup_latency_log2_histogram_ns.clone();
    let title = format!("Wake-up latency of {role}");
    (!rows.is_empty()).then_some(Log2Histogram { title, kind: Value::Ns(0), rows })
}

fn timeline(roles: &[(String, SchedRow)]) -> Timeline {
    let lines: Vec<Vec<Span>> = roles.iter().map(|(_, row)| spans(row)).collect();
    let ends: Vec<_> =
        lines.iter().zip(roles).map(|(line, role)| (&**line, role.1.interval_ns)).collect();
    let end_ns = common_end_ns(&ends);
    let lanes = roles.iter().zip(&lines).map(|((role, _), line)| {
        let cut = line.iter().filter(|span| span.from_ns < end_ns);
        let spans = cut.map(|span| Span { to_ns: span.to_ns.min(end_ns), ..*span }).collect();
        Lane { label: role.clone(), spans }
    });
    Timeline { title: "Scheduling timeline".to_owned(), end_ns, lanes: lanes.collect() }
}

fn spans(row: &SchedRow) -> Vec<Span> {
    row.timeline.iter().map(|&(from_ns, to_ns, state)| Span { from_ns, to_ns, state }).collect()
}

/// Returns the end of the part of `lines` that can be shown side by side: the first end of a line that ends before
/// its role does, where `whole_ns` is the length of the role's interval.
fn common_end_ns(lines: &[(&[Span], u64)]) -> u64 {
    let ends = lines.iter().filter_map(|(line, whole_ns)| {
        let (first, last) = (line.first()?, line.last()?);
        Some((last.to_ns, last.to_ns - first.from_ns < *whole_ns))
    });
    let cut = ends.clone().filter(|end| end.1).map(|end| end.0).min();
    cut.or_else(|| ends.map(|end| end.0).max()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::instrument::sched::Sleep;
    use crate::instrument_view::State;

    fn row() -> SchedRow {
        SchedRow {
            interval_ns: 100,
            threads: 1,
            on_cpu_ns: 70,
            asleep_ns: 30,
            sleeps: vec![Sleep {
                state: "interruptible".to_owned(),
                syscall: Some("read".to_owned()),
                count: 1,
                asleep_ns: 30,
            }],
            voluntary_switches: 1,
            cpus: vec![0, 3],
            woken_by: BTreeMap::from([("idle".to_owned(), 1)]),
            wakeup_latency_log2_histogram_ns: vec![(4, 1)],
            timeline: vec![
                (0, 10, State::Running),
                (10, 40, State::Asleep),
                (40, 100, State::Running),
            ],
            ..SchedRow::default()
        }
    }

    fn views_of(roles: &[(&str, SchedRow)]) -> Vec<InstrumentView> {
        let told = roles.iter().map(|(role, row)| Observation::from_row(Some(role), row));
        views(&told.collect::<Vec<_>>())
    }

    #[test]
    fn every_figure_stands_under_its_heading() {
        let shown = views_of(&[("sender", row())]);
        let [times, sleeps, wakings, latency, timeline] = &shown[..] else { panic!("{shown:?}") };
        for picture in [times, sleeps, wakings] {
            let InstrumentView::Table(table) = picture else { panic!("{picture:?}") };
            assert_eq!(table.rows.len(), 1);
            assert_eq!(table.rows[0].len(), table.headings.len(), "{}", table.title);
        }
        let InstrumentView::Table(wakings) = wakings else { panic!("{wakings:?}") };
        assert_eq!(wakings.headings, ["waker", "sender"]);
        let by = Value::Text("an interrupt on an idle CPU".to_owned());
        assert_eq!(wakings.rows, [[by, Value::Count(1)]]);
        let InstrumentView::Log2Histogram(latency) = latency else { panic!("{latency:?}") };
        assert_eq!(latency.rows, [(4, 1)]);
        let InstrumentView::Timeline(timeline) = timeline else { panic!("{timeline:?}") };
        assert_eq!((timeline.end_ns, timeline.lanes[0].spans.len()), (100, 3));
    }

    #[test]
    fn lanes_end_where_the_first_is_no_longer_known() {
        let cut = SchedRow { timeline: vec![(5, 50, State::Running)], ..row() };
        let shown = views_of(&[("sender", row()), ("receiver", cut)]);
        let Some(InstrumentView::Timeline(timeline)) = shown.last() else { panic!("{shown:?}") };
        assert_eq!(timeline.end_ns, 50);
        let last = timeline.lanes[0].spans.last().unwrap();
        assert_eq!((last.from_ns, last.to_ns), (40, 50));
    }

    #[test]
    fn nothing_seen_is_no_picture() {
        assert_eq!(views_of(&[]), []);
        let others = Observation::from_row(Some("sender"), &BTreeMap::from([("count", 1)]));
        assert_eq!(views(&[others]), []);
    }
}
