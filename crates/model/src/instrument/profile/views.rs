//! Presentation of a profile.

use super::row::{Group, GroupShare, ProfileRow, ProfileSummary, Space, SymbolShare};
use crate::instrument_view::{InstrumentView, Table, Value};
use crate::observation::Observation;

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
    let headings = [
        "role",
        "event",
        "samples/s",
        "samples",
        "CPU time coverage",
        "kernel samples",
        "overwritten time",
        "skid share",
    ];
    let rows = roles.iter().filter_map(|role| {
        let summary = role.summary.as_ref()?;
        Some(vec![
            Value::Text(role.name.clone()),
            Value::Text(summary.event.clone()),
            Value::Count(summary.frequency_hz),
            Value::Count(summary.samples),
            summary.cpu_time_coverage.map_or(Value::Absent, Value::Share),
            summary.kernel_samples.map_or(Value::Absent, Value::Count),
            Value::Ns(summary.overwritten_ns),
            summary.skid_share.map_or(Value::Absent, Value::Share),
        ])
    });
    Table::new("Samples", &headings, rows.collect())
}

/// Builds a line for each role and group, with the bounds of the interval.
fn groups(roles: &[RoleProfile]) -> Table {
    let headings = ["role", "group", "share", "95 % low", "95 % high", "samples"];
    let rows = roles.iter().flat_map(|role| {
        role.groups.iter().map(|group| {
            vec![
                Value::Text(role.name.clone()),
                Value::Text(group_name(group)),
                Value::Share(group.share),
                Value::Share(group.share_low),
                Value::Share(group.share_high),
                Value::Count(group.samples),
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
    let headings = ["symbol", "share", "samples", "space", "object", "group"];
    let rows = role.symbols.iter().take(MAX_SYMBOLS).map(|symbol| {
        let space = match symbol.space {
            Space::Kernel => "kernel",
            Space::User => "user",
        };
        vec![
            Value::Text(symbol.symbol.clone()),
            Value::Share(symbol.share),
            Value::Count(symbol.samples),
            Value::Text(space.to_owned()),
            Value::Text(symbol.object.clone()),
            Value::Text(symbol.group.name().to_owned()),
        ]
    });
    Table::new(format!("Functions of {}", role.name), &headings, rows.collect())
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
        assert_eq!(groups.rows[0][1], Value::Text("copying (inferred)".to_owned()));
        assert_eq!((&*functions.title, functions.rows.len()), ("Functions of sender", MAX_SYMBOLS));
    }

    #[test]
    fn nothing_seen_is_no_picture() {
        assert_eq!(views(&[]), []);
    }
}
