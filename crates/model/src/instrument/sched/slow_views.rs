//! Presentation of the slowest messages of a paced run.

use super::slow_row::{DelayCause, DelayPart, ExplainedMessage, SlowMessagesRow};
use crate::instrument_view::{Table, Value};

/// Builds a table of the causes of all slow messages and a list of at most `count` of the slowest.
#[must_use]
pub fn slow_message_tables(row: &SlowMessagesRow, count: usize) -> [Table; 2] {
    [causes(row), slowest(row, count)]
}

#[allow(clippy::cast_precision_loss, reason = "shares, and a time of hours")]
fn causes(row: &SlowMessagesRow) -> Table {
    let explained = row.slow_messages - row.unrecorded_messages;
    let whole_ns: u64 = row.causes.iter().map(|cause| cause.total_ns).sum();
    let share = |part: u64, whole: u64| match whole {
        0 => Value::Absent,
        _ => Value::Share(part as f64 / whole as f64),
    };
    let mut rows: Vec<Vec<Value>> = row
        .causes
        .iter()
        .map(|one| {
            vec![
                Value::Text(named(one.cause, one.role.as_deref())),
                Value::Count(one.main_cause_of),
                share(one.main_cause_of, explained),
                share(one.total_ns, whole_ns),
            ]
        })
        .collect();
    if row.unrecorded_messages > 0 {
        let count = Value::Count(row.unrecorded_messages);
        let name = Value::Text("not recorded: too many events".to_owned());
        rows.push(vec![name, count, Value::Absent, Value::Absent]);
    }
    let headings = ["cause", "main cause of", "share of messages", "share of their latency"];
    let unavailable = match &*row.unavailable_events {
        [] => String::new(),
        reasons => format!(" ({})", reasons.join("; ")),
    };
    Table::new(format!("Causes of the latencies above p99{unavailable}"), &headings, rows)
}

fn slowest(row: &SlowMessagesRow, count: usize) -> Table {
    let several_sizes = row.slowest.windows(2).any(|pair| pair[0].bytes != pair[1].bytes);
    let headings: Vec<&str> = ["message", "due after"]
        .into_iter()
        .chain(several_sizes.then_some("size"))
        .chain(["latency", "sent late by", "main cause", "its part"])
        .collect();
    let listed = row.slowest.iter().take(count);
    let rows = listed.map(|one| message(one, several_sizes.then_some(one.bytes)));
    Table::new("Slowest messages", &headings, rows.collect())
}

fn message(one: &ExplainedMessage, bytes: Option<u64>) -> Vec<Value> {
    let mut row = vec![Value::Count(one.number), Value::Ns(one.due_after_ns)];
    row.extend(bytes.map(Value::Bytes));
    row.extend([Value::Ns(one.latency_ns), Value::Ns(one.sent_late_ns)]);
    row.extend(part(one.parts.first()));
    row
}

fn part(part: Option<&DelayPart>) -> [Value; 2] {
    part.map_or([Value::Absent, Value::Absent], |part| {
        [Value::Text(named(part.cause, part.role.as_deref())), Value::Ns(part.ns)]
    })
}

/// Name of a cause with the role that it happened to, if that does not follow from the cause.
fn named(cause: DelayCause, role: Option<&str>) -> String {
    match role {
        Some(role) => format!("{} ({role})", cause.text()),
        None => cause.text().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::slow_row::{CauseShare, LISTED};
    use super::*;

    fn row() -> SlowMessagesRow {
        let part = |cause, ns| DelayPart { cause, role: Some("receiver".to_owned()), ns };
        let message = ExplainedMessage {
            number: 7,
            bytes: 64,
            due_after_ns: 700,
            latency_ns: 500,
            sent_late_ns: 20,
            parts: vec![part(DelayCause::IdleExit, 400), part(DelayCause::Work, 100)],
        };
        let share = |cause, main_cause_of, total_ns| CauseShare {
            cause,
            role: None,
            main_cause_of,
            total_ns,
        };
        SlowMessagesRow {
            slow_messages: 5,
            unrecorded_messages: 1,
            causes: vec![share(DelayCause::IdleExit, 3, 600), share(DelayCause::Work, 1, 200)],
            slowest: vec![message],
            ..SlowMessagesRow::default()
        }
    }

    fn tables(row: &SlowMessagesRow) -> [Table; 2] {
        slow_message_tables(row, LISTED)
    }

    #[test]
    fn shares_are_those_of_the_explained_messages() {
        let [causes, _] = tables(&row());
        let shares: Vec<_> = causes.rows.iter().map(|row| (&row[1], &row[2], &row[3])).collect();
        let idle = (&Value::Count(3), &Value::Share(0.75), &Value::Share(0.75));
        assert_eq!((shares.len(), shares[0]), (3, idle));
        assert_eq!(shares[2], (&Value::Count(1), &Value::Absent, &Value::Absent));
    }

    #[test]
    fn every_figure_stands_under_its_heading() {
        for several in [1, 2] {
            let mut row = row();
            let other =
                ExplainedMessage { bytes: 128, parts: Vec::new(), ..row.slowest[0].clone() };
            row.slowest.extend((several == 2).then_some(other));
            for table in tables(&row) {
                assert!(table.rows.iter().all(|cells| cells.len() == table.headings.len()));
            }
            assert_eq!(tables(&row)[1].headings.contains(&"size".to_owned()), several == 2);
        }
    }
}
