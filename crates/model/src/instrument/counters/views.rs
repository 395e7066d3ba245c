//! Presentation of counted events.

use super::row::{EventCount, EventRatio, PrivilegeLevel};
use crate::instrument_view::{InstrumentView, Table, Value};
use crate::observation::Observation;

/// Builds a table of events for each role, and one table with the ratios of all roles.
pub(super) fn views(observations: &[Observation]) -> Vec<InstrumentView> {
    let counts: Vec<(&str, EventCount)> = rows_with_role(observations);
    let mut roles: Vec<&str> = counts.iter().map(|row| row.0).collect();
    roles.dedup();
    let events = roles.iter().map(|role| events(role, &counts));
    let ratios = ratios(&rows_with_role(observations));
    events.chain(ratios).map(InstrumentView::Table).collect()
}

/// Returns the rows of one type, with their roles.
fn rows_with_role<R: serde::de::DeserializeOwned>(observations: &[Observation]) -> Vec<(&str, R)> {
    observations.iter().filter_map(|one| Some((one.role.as_deref()?, one.row()?))).collect()
}

const SPACES: [PrivilegeLevel; 3] =
    [PrivilegeLevel::User, PrivilegeLevel::Kernel, PrivilegeLevel::Both];

fn events(role: &str, counts: &[(&str, EventCount)]) -> Table {
    let counts: Vec<&EventCount> =
        counts.iter().filter(|row| row.0 == role).map(|row| &row.1).collect();
    let mut names: Vec<&str> = counts.iter().map(|count| &*count.event).collect();
    names.dedup();
    let rows = names.into_iter().map(|name| {
        let of = |space| counts.iter().find(|row| row.event == name && row.space == space);
        let shown = SPACES.map(|space| of(space).map_or(Value::Absent, |row| count_value(row)));
        let share = counts.iter().find(|row| row.event == name).and_then(|row| row.running_share);
        let [user, kernel, both] = shown;
        let both = if both == Value::Absent { sum(&user, &kernel) } else { both };
        let share = share.map_or(Value::Absent, Value::Share);
        vec![Value::Text(name.to_owned()), user, kernel, both, share]
    });
    table(format!("Events: {role}"), "event", Some("running share"), rows.collect())
}

/// Returns the count of a row in the unit of its event.
fn count_value(row: &EventCount) -> Value {
    let value = if row.is_time() { Value::Ns } else { Value::Count };
    row.count.map_or(Value::Absent, value)
}

fn sum(user: &Value, kernel: &Value) -> Value {
    match (user, kernel) {
        (Value::Count(user), Value::Count(kernel)) => Value::Count(user.saturating_add(*kernel)),
        _ => Value::Absent,
    }
}

fn ratios(ratios: &[(&str, EventRatio)]) -> Option<Table> {
    let mut names: Vec<(&str, &str)> =
        ratios.iter().map(|(role, row)| (*role, &*row.ratio)).collect();
    names.dedup();
    let rows: Vec<_> = names
        .into_iter()
        .map(|(role, name)| {
            let value = |space| {
                let found = ratios
                    .iter()
                    .find(|(whose, row)| (*whose, &*row.ratio, row.space) == (role, name, space));
                let value = found.and_then(|found| found.1.value);
                value.map_or(Value::Absent, |value| Value::Text(format_ratio(value)))
            };
            let name = Value::Text(format!("{role}: {}", name.replace('-', " ")));
            std::iter::once(name).chain(SPACES.map(value)).collect()
        })
        .collect();
    (!rows.is_empty()).then(|| table("Event ratios".to_owned(), "ratio", None, rows))
}

/// Formats a ratio with three significant digits, since ratios range from small to large.
fn format_ratio(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        1.0.. => format!("{value:.2}"),
        0.001.. => format!("{value:.4}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.2e}"),
    }
}

fn table(title: String, first: &str, last: Option<&str>, rows: Vec<Vec<Value>>) -> Table {
    let spaces = ["user", "kernel", "both"];
    let headings: Vec<&str> = std::iter::once(first).chain(spaces).chain(last).collect();
    Table::new(title, &headings, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(event: &str, space: PrivilegeLevel, count: Option<u64>, share: f64) -> Observation {
        let event = event.to_owned();
        let running_share = Some(share);
        Observation::from_row(
            Some("sender"),
            &EventCount { event, space, count, running_share, raw_count: count },
        )
    }

    #[test]
    fn an_event_is_a_row_with_its_spaces_side_by_side() {
        let ratio = EventRatio {
            ratio: "cycles-per-instruction".to_owned(),
            space: PrivilegeLevel::User,
            value: Some(1.5),
        };
        let told = [
            count("cycles", PrivilegeLevel::User, Some(30), 0.5),
            count("cycles", PrivilegeLevel::Kernel, Some(12), 0.5),
            count("task-clock", PrivilegeLevel::Both, Some(7_000), 1.0),
            count("LLC-loads", PrivilegeLevel::User, None, 0.0),
            Observation::from_row(Some("sender"), &ratio),
        ];
        let [InstrumentView::Table(events), InstrumentView::Table(ratios)] = &views(&told)[..]
        else {
            panic!("two tables")
        };
        let numbers = |row: usize| &events.rows[row][1..];
        let counts = [30, 12, 42].map(Value::Count);
        assert_eq!(numbers(0)[..3], counts);
        assert_eq!(numbers(0)[3], Value::Share(0.5));
        assert_eq!(numbers(1)[..3], [Value::Absent, Value::Absent, Value::Ns(7_000)]);
        assert_eq!(numbers(2)[..3], [Value::Absent, Value::Absent, Value::Absent]);
        let text = |text: &str| Value::Text(text.to_owned());
        let ratio = vec![
            text("sender: cycles per instruction"),
            text("1.50"),
            Value::Absent,
            Value::Absent,
        ];
        assert_eq!(ratios.rows, [ratio]);
        for table in [events, ratios] {
            assert!(table.rows.iter().all(|row| row.len() == table.headings.len()));
        }
    }

    #[test]
    fn nothing_counted_is_no_picture() {
        assert_eq!(views(&[]), []);
    }

    #[test]
    fn ratios_have_three_figures() {
        let shown = [1234.5, 2.345_6, 0.012_34, 0.000_012_3, 0.0].map(format_ratio);
        assert_eq!(shown, ["1234", "2.35", "0.0123", "1.23e-5", "0"]);
    }
}
