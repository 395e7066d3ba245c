//! `rusage`: resource usage of each role, from its own `getrusage` around the timed region and from the kernel's
//! accounting ([getrusage(2)](https://man7.org/linux/man-pages/man2/getrusage.2.html)). It is measured in every
//! run; if requested as an instrument, it also appears among the observations.

use serde::{Deserialize, Serialize};

use super::{InstrumentFacts, Intrusive};
use crate::instrument_view::{InstrumentView, Table, Value};
use crate::observation::Observation;

/// Description of `rusage`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "rusage", intrusive: Intrusive::No, views };

/// Resource usage of one role in the measured phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RusageRow {
    /// CPU time in user mode, ns. The sum of `user_ns` and `system_ns` is `cpu_ns`. The kernel estimates the two
    /// parts by sampling at its timer ticks.
    pub user_ns: u64,
    /// CPU time in the kernel, ns.
    pub system_ns: u64,
    /// Exact CPU time, from the CPU-time clock of the thread, ns.
    pub cpu_ns: Option<u64>,
    /// Time runnable but not running, ns.
    pub run_delay_ns: Option<u64>,
    /// Page faults served without I/O.
    pub minor_faults: u64,
    /// Number of times the role gave up its CPU to wait.
    pub voluntary_switches: u64,
    /// Number of times the role was preempted.
    pub involuntary_switches: u64,
    /// Number of system calls made to move data; `None` where a library or a daemon makes them.
    pub calls: Option<u64>,
    /// Number of writes that accepted fewer bytes than requested.
    pub short_writes: u64,
    /// Number of reads that returned fewer bytes than requested.
    pub short_reads: u64,
}

const HEADINGS: [&str; 9] = [
    "role",
    "user",
    "system",
    "on CPU",
    "run delay",
    "page faults",
    "voluntary switches",
    "involuntary switches",
    "calls",
];

fn views(observations: &[Observation]) -> Vec<InstrumentView> {
    let rows: Vec<_> =
        observations.iter().filter_map(|one| Some(cells(one.role.clone()?, &one.row()?))).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![InstrumentView::Table(Table::new("resource usage", &HEADINGS, rows))]
}

fn cells(role: String, row: &RusageRow) -> Vec<Value> {
    vec![
        Value::Text(role),
        Value::Ns(row.user_ns),
        Value::Ns(row.system_ns),
        row.cpu_ns.map_or(Value::Absent, Value::Ns),
        row.run_delay_ns.map_or(Value::Absent, Value::Ns),
        Value::Count(row.minor_faults),
        Value::Count(row.voluntary_switches),
        Value::Count(row.involuntary_switches),
        row.calls.map_or(Value::Absent, Value::Count),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_a_row_as_long_as_the_headings() {
        let row = RusageRow {
            user_ns: 1,
            system_ns: 2,
            cpu_ns: None,
            run_delay_ns: Some(3),
            minor_faults: 4,
            voluntary_switches: 5,
            involuntary_switches: 6,
            calls: Some(7),
            short_writes: 0,
            short_reads: 0,
        };
        let told = ["sender", "receiver"].map(|role| Observation::from_row(Some(role), &row));
        let [InstrumentView::Table(table)] = &views(&told)[..] else { panic!("one table") };
        assert_eq!(table.rows.len(), 2);
        assert!(table.rows.iter().all(|cells| cells.len() == table.headings.len()));
        assert_eq!(table.rows[1][3], Value::Absent);
        assert_eq!(views(&[]), []);
    }
}
