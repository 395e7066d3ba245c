//! Presentation of a profile.

use super::row::{Group, GroupShare, Row, Space, Summary, SymbolShare};
use crate::instrument_view::{Picture, Table, Value};
use crate::observation::Observation;

/// Maximum number of symbols shown for each role.
const SYMBOLS: usize = 15;

/// Rows that describe one role.
#[derive(Debug, Default)]
struct Role {
    name: String,
    summary: Option<Summary>,
    groups: Vec<GroupShare>,
    symbols: Vec<SymbolShare>,
}

/// Builds tables of the sampling of each role, of its time by group, and of its functions.
pub(super) fn pictures(observations: &[Observation]) -> Vec<Picture> {
    let roles = roles(observations);
    if roles.is_empty() {
        return Vec::new();
    }
    let tables = [summaries(&roles), groups(&roles)].into_iter().chain(roles.iter().map(symbols));
    tables.map(Picture::Table).collect()
}

fn roles(observations: &[Observation]) -> Vec<Role> {
    let mut roles: Vec<Role> = Vec::new();
    for observation in observations {
        let (Some(name), Some(row)) = (observation.role.clone(), observation.row()) else {
            continue;
        };
        let index = roles.iter().position(|role| role.name == name).unwrap_or_else(|| {
            roles.push(Role { name, ..Role::default() });
            roles.len() - 1
        });
        match row {
            Row::Summary(summary) => roles[index].summary = Some(summary),
            Row::Group(group) => roles[index].groups.push(group),
            Row::Symbol(symbol) => roles[index].symbols.push(symbol),
            Row::Stack(_) => {}
        }
    }
    roles
}

fn summaries(roles: &[Role]) -> Table {
    let headings = [
        "role",
        "event",
        "per second",
        "samples",
        "of its CPU time",
        "in the kernel",
        "overwritten",
        "skid",
    ];
    let rows = roles.iter().filter_map(|role| {
        let summary = role.summary.as_ref()?;
        Some(vec![
            Value::Text(role.name.clone()),
            Value::Text(summary.event.clone()),
            Value::Count(summary.frequency_hz),
            Value::Count(summary.samples),
            summary.covered_share.map_or(Value::Absent, Value::Share),
            summary.kernel_samples.map_or(Value::Absent, Value::Count),
            Value::Ns(summary.overwritten_ns),
            summary.skid_share.map_or(Value::Absent, Value::Share),
        ])
    });
    Table::new("Samples", &headings, rows.collect())
}

/// Builds a line for each role and group, with the bounds of the interval.
fn groups(roles: &[Role]) -> Table {
    let headings = ["role", "group", "share", "at least", "at most", "samples"];
    let rows = roles.iter().flat_map(|role| {
        role.groups.iter().map(|group| {
            vec![
                Value::Text(role.name.clone()),
                Value::Text(words(group)),
                Value::Share(group.share),
                Value::Share(group.share_low),
                Value::Share(group.share_high),
                Value::Count(group.samples),
            ]
        })
    });
    Table::new("What each role was at", &headings, rows.collect())
}

fn words(group: &GroupShare) -> String {
    let word = match group.group {
        Group::EntryExit => "entry and exit",
        Group::TheRest => "the rest",
        other => other.word(),
    };
    if group.learned { format!("{word} (learned)") } else { word.to_owned() }
}

fn symbols(role: &Role) -> Table {
    let headings = ["symbol", "share", "samples", "space", "object", "group"];
    let rows = role.symbols.iter().take(SYMBOLS).map(|symbol| {
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
            Value::Text(symbol.group.word().to_owned()),
        ]
    });
    Table::new(format!("Functions of {}", role.name), &headings, rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::profile::row::{KernelSymbols, Reach, Stack};

    fn told() -> Vec<Observation> {
        let summary = Summary {
            event: "cpu-clock".to_owned(),
            frequency_hz: 1_999,
            reach: Reach::Cpus,
            samples: 40,
            events: 20_000_000,
            kernel_samples: None,
            overwritten_ns: 0,
            kernel_symbols: Some(KernelSymbols::Hidden),
            skid_share: None,
            covered_share: Some(0.5),
        };
        let group = GroupShare {
            group: Group::Copying,
            samples: 30,
            kernel_samples: None,
            share: 0.75,
            share_low: 0.6,
            share_high: 0.86,
            learned: true,
        };
        let symbol = |number: usize| SymbolShare {
            symbol: format!("f{number}"),
            space: Space::User,
            object: "libc.so.6".to_owned(),
            group: Group::TheRest,
            samples: 1,
            share: 0.025,
        };
        let stack = Stack { stack: "sender;main".to_owned(), samples: 40 };
        let rows = [Row::Summary(summary), Row::Group(group), Row::Stack(stack)];
        let symbols = (0..SYMBOLS + 5).map(|number| Row::Symbol(symbol(number)));
        rows.into_iter().chain(symbols).map(|row| Observation::of(Some("sender"), &row)).collect()
    }

    #[test]
    fn every_figure_stands_under_its_heading() {
        let shown = pictures(&told());
        let tables: Vec<&Table> = shown
            .iter()
            .filter_map(|picture| match picture {
                Picture::Table(table) => Some(table),
                _ => None,
            })
            .collect();
        let [samples, groups, functions] = tables[..] else { panic!("{shown:?}") };
        for table in [samples, groups, functions] {
            assert!(table.rows.iter().all(|row| row.len() == table.headings.len()), "{table:?}");
        }
        assert_eq!(samples.rows[0][4..6], [Value::Share(0.5), Value::Absent]);
        assert_eq!(groups.rows[0][1], Value::Text("copying (learned)".to_owned()));
        assert_eq!((&*functions.title, functions.rows.len()), ("Functions of sender", SYMBOLS));
    }

    #[test]
    fn nothing_seen_is_no_picture() {
        assert_eq!(pictures(&[]), []);
    }
}
