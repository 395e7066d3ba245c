//! System calls as reported by a comparison tool (strace, bpftrace): one row for each role and call.

#[cfg(target_os = "linux")]
mod tally;

#[cfg(all(test, target_os = "linux"))]
use ipcperf_model::Observation;
#[cfg(all(test, target_os = "linux"))]
use ipcperf_model::instrument::tool_calls::ToolCallRow;
#[cfg(target_os = "linux")]
pub(crate) use tally::{Tally, observations};

/// Returns the rows of `role`.
#[cfg(all(test, target_os = "linux"))]
pub(crate) fn rows(observations: &[Observation], role: &str) -> Vec<ToolCallRow> {
    let observations = observations.iter().filter(|row| row.role.as_deref() == Some(role));
    observations.map(|row| row.row().unwrap()).collect()
}

/// Returns the only row of `role`, which makes one kind of call.
#[cfg(all(test, target_os = "linux"))]
pub(crate) fn only_row(observations: &[Observation], role: &str) -> ToolCallRow {
    let mut rows = rows(observations, role);
    assert_eq!(rows.len(), 1, "{observations:?}");
    rows.remove(0)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use ipcperf_model::instrument::tool_calls::tables;
    use ipcperf_model::instrument_view::{InstrumentView, Value};

    use super::*;
    use crate::Targets;

    #[test]
    fn each_role_has_its_table() {
        let row = |syscall: &str, count| ToolCallRow {
            syscall: syscall.to_owned(),
            count,
            ..ToolCallRow::default()
        };
        let member = |role: &str| crate::Member {
            role: role.to_owned(),
            pid: 1,
            tid: 1,
            scope: crate::Scope::Thread,
        };
        let targets = Targets::new(vec![member("sender"), member("receiver")]);
        let rows = vec![vec![row("futex", 1), row("write", 9)], vec![row("read", 9)]];
        let tables = tables("strace", &observations(&targets, rows));
        let [InstrumentView::Table(sender), InstrumentView::Table(receiver)] = &tables[..] else {
            panic!("{tables:?}")
        };
        assert_eq!(sender.rows[0][..2], [Value::Text("write".to_owned()), Value::Count(9)]);
        assert_eq!(sender.rows[0][2], Value::Absent);
        assert_eq!((sender.rows.len(), receiver.rows.len()), (2, 1));
        assert_eq!(sender.headings.len(), sender.rows[0].len());
    }
}
