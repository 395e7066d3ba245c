//! Presentation of a profile.

use super::row::{Group, GroupShare, ProfileRow, ProfileSummary, Space, SymbolShare};
use crate::instrument_view::{InstrumentView, Table, Value};
use crate::observation::Observation;
use crate::units;

/// Maximum number of symbols shown for each role.
const MAX_SYMBOLS: usize = 15;

/// Rows that describe one role.
#[derive(Debug, Default)]
struct RoleProfile {
    name: String,
    summary: Option<ProfileSummary>,
    groups: Vec<GroupShare>,
    symbols: Vec<SymbolShare>,
}

/// Builds tables of the sampling of each role, of its time by group, and of its functions.
pub(super) fn views(observations: &[Observation]) -> Vec<InstrumentView> {
    let roles = roles(observations);
    if roles.is_empty() {
        return Vec::new();
    }
    let tables = [summaries(&roles), groups(&roles)].into_iter().chain(roles.iter().map(symbols));
    tables.map(InstrumentView::Table).collect()
}

fn roles(observations: &[Observation]) -> Vec<RoleProfile> {
    let mut roles: Vec<RoleProfile> = Vec::new();
    for observation in observations {
        let (Some(name), Some(row)) = (observation.role.clone(), observation.row()) else {
            continue;
        };
        let index = roles.iter().position(|role| role.name == name).unwrap_or_else(|| {
            roles.push(RoleProfile { name, ..RoleProfile::default() });
            roles.len() - 1
        });
        match row {
            ProfileRow::Summary(summary) => roles[index].summary = Some(summary),
            ProfileRow::Group(group) => roles[index].groups.push(group),
            ProfileRow::Symbol(symbol) => roles[index].symbols.push(symbol),
            ProfileRow::Stack(_) => {}
        }
    }
    roles
}

fn summaries(roles: &[RoleProfile]) -> Table {
    let summaries = roles.iter().filter_map(|role| Some((&*role.name, role.summary.as_ref()?)));
    let summaries: Vec<(&str, &ProfileSummary)> = summaries.collect();
    let is_overwritten = summaries.iter().any(|(_, summary)| summary.overwritten_ns > 0);
    let mut headings =
        vec!["role", "event", "frequency", "samples", "CPU time coverage", "in the kernel", "skid"];
    headings.extend(is_overwritten.then_some("overwritten time"));
    let rows = summaries.into_iter().map(|(role, summary)| {
        let mut cells = vec![
            Value::Text(role.to_owned()),
            Value::Text(summary.event.clone()),
            Value::Text(format!("{} Hz", summary.frequency_hz)),
            Value::Count(summary.samples),
            summary.cpu_time_coverage.map_or(Value::Absent, Value::Share),
            kernel_share(summary).map_or(Value::Absent, Value::Share),
            summary.skid_share.map_or(Value::Absent, Value::Share),
        ];
        cells.extend(is_overwritten.then_some(Value::Ns(summary.overwritten_ns)));
        cells
    });
    Table::new("Samples", &headings, rows.collect())
}

/// Returns the share of the samples that were taken in the kernel; `None` if it was not sampled.
#[allow(clippy::cast_precision_loss, reason = "a share of counts")]
fn kernel_share(summary: &ProfileSummary) -> Option<f64> {
    let kernel = summary.kernel_samples?;
    (summary.samples > 0).then(|| kernel as f64 / summary.samples as f64)
}

/// Builds a line for each role and group, with the interval of its share.
fn groups(roles: &[RoleProfile]) -> Table {
    let headings = ["role", "group", "samples", "share", "95 % interval"];
    let rows = roles.iter().flat_map(|role| {
        role.groups.iter().map(|group| {
            let [low, high] = [group.share_low, group.share_high].map(units::percent);
            vec![
                Value::Text(role.name.clone()),
                Value::Text(group_name(group)),
                Value::Count(group.samples),
                Value::Share(group.share),
                Value::Text(format!("{low} to {high}")),
            ]
        })
    });
    Table::new("CPU time by function group", &headings, rows.collect())
}

fn group_name(group: &GroupShare) -> String {
    let word = match group.group {
        Group::EntryExit => "entry and exit",
        Group::Other => "other",
        other => other.name(),
    };
    if group.inferred { format!("{word} (inferred)") } else { word.to_owned() }
}

fn symbols(role: &RoleProfile) -> Table {
    let headings = ["symbol", "samples", "share", "space", "object", "group"];
    let shown = role.symbols.len().min(MAX_SYMBOLS);
    let rows = role.symbols[..shown].iter().map(|symbol| {
        let space = match symbol.space {
            Space::Kernel => "kernel",
            Space::User => "user",
        };
        vec![
            Value::Text(symbol.symbol.clone()),
            Value::Count(symbol.samples),
            Value::Share(symbol.share),
            Value::Text(space.to_owned()),
            Value::Text(symbol.object.clone()),
            Value::Text(symbol.group.name().to_owned()),
        ]
    });
    let rows = rows.chain(remaining_symbols(&role.symbols[shown..])).collect();
    Table::new(format!("Functions of {}", role.name), &headings, rows)
}

/// Builds a row with the sum of the functions that are not shown; `None` if all are.
fn remaining_symbols(symbols: &[SymbolShare]) -> Option<Vec<Value>> {
    let samples = symbols.iter().fold(0, |sum: u64, symbol| sum.saturating_add(symbol.samples));
    let share = symbols.iter().map(|symbol| symbol.share).sum();
    let name = match symbols.len() {
        1 => "1 more function".to_owned(),
        more => format!("{more} more functions"),
    };
    let figures = [Value::Text(name), Value::Count(samples), Value::Share(share)];
    let absent = std::iter::repeat_n(Value::Absent, 3);
    (!symbols.is_empty()).then(|| figures.into_iter().chain(absent).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::profile::row::{KernelSymbols, SampledThreads, Stack};

    fn observations() -> Vec<Observation> {
        let summary = ProfileSummary {
            event: "cpu-clock".to_owned(),
            frequency_hz: 1_999,
            sampled: SampledThreads::Cpus,
            samples: 40,
            events: 20_000_000,
            kernel_samples: None,
            overwritten_ns: 0,
            kernel_symbols: Some(KernelSymbols::Hidden),
            skid_share: None,
            cpu_time_coverage: Some(0.5),
        };
        let group = GroupShare {
            group: Group::Copying,
            samples: 30,
            kernel_samples: None,
            share: 0.75,
            share_low: 0.6,
            share_high: 0.86,
            inferred: true,
        };
        let symbol = |number: usize| SymbolShare {
            symbol: format!("f{number}"),
            space: Space::User,
            object: "libc.so.6".to_owned(),
            group: Group::Other,
            samples: 1,
            share: 0.025,
        };
        let stack = Stack { stack: "sender;main".to_owned(), samples: 40 };
        let rows =
            [ProfileRow::Summary(summary), ProfileRow::Group(group), ProfileRow::Stack(stack)];
        let symbols = (0..MAX_SYMBOLS + 5).map(|number| ProfileRow::Symbol(symbol(number)));
        rows.into_iter()
            .chain(symbols)
            .map(|row| Observation::from_row(Some("sender"), &row))
            .collect()
    }

    #[test]
    fn every_figure_stands_under_its_heading() {
        let shown = views(&observations());
        let tables: Vec<&Table> = shown
            .iter()
            .filter_map(|picture| match picture {
                InstrumentView::Table(table) => Some(table),
                _ => None,
            })
            .collect();
        let [samples, groups, functions] = tables[..] else { panic!("{shown:?}") };
        for table in [samples, groups, functions] {
            assert!(table.rows.iter().all(|row| row.len() == table.headings.len()), "{table:?}");
        }
        assert_eq!(samples.rows[0][4..6], [Value::Share(0.5), Value::Absent]);
        assert_eq!(samples.headings.len(), 7, "nothing was overwritten: no column for it");
        assert_eq!(groups.rows[0][1], Value::Text("copying (inferred)".to_owned()));
        assert_eq!(groups.rows[0][2..4], [Value::Count(30), Value::Share(0.75)]);
        let title = "Functions of sender";
        assert_eq!((&*functions.title, functions.rows.len()), (title, MAX_SYMBOLS + 1));
        let rest = [Value::Text("5 more functions".to_owned()), Value::Count(5)];
        assert_eq!(functions.rows[MAX_SYMBOLS][..2], rest);
    }

    #[test]
    fn a_single_function_that_is_not_shown_is_one_function() {
        let mut all = observations();
        all.truncate(3 + MAX_SYMBOLS + 1);
        let shown = views(&all);
        let Some(InstrumentView::Table(functions)) = shown.last() else { panic!("{shown:?}") };
        let last = functions.rows.last().map(|row| &row[0]);
        assert_eq!(last, Some(&Value::Text("1 more function".to_owned())));
    }

    #[test]
    fn time_that_was_overwritten_has_a_column() {
        let mut all = observations();
        all[0].fields.insert("overwritten_ns".to_owned(), 7.into());
        let shown = views(&all);
        let Some(InstrumentView::Table(samples)) = shown.first() else { panic!("{shown:?}") };
        assert_eq!(samples.rows[0].last(), Some(&Value::Ns(7)));
        assert_eq!(samples.rows[0].len(), samples.headings.len());
    }

    #[test]
    fn nothing_seen_is_no_picture() {
        assert_eq!(views(&[]), []);
    }
}
