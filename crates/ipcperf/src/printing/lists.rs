//! Lists of mechanisms, workloads, instruments, studies, export formats and tests, from the registries.

use ipcperf_engine::channel::{Mechanism, OptionSpec, UnavailableValue};
use ipcperf_engine::mechanism::MECHANISMS;
use ipcperf_model::workload::WORKLOADS;
use ipcperf_observe::{INSTRUMENTS, Instrument};
use ipcperf_report::export::EXPORTERS;
use ipcperf_report::terminal::{ListEntry, entry_list, paragraph, studies_json, study_list, wrap};
use ipcperf_study::Study;
use ipcperf_study::hypothesis::TESTS;
use serde_json::Value;

use super::custom::{custom_json, custom_manual, custom_names};
use super::list_json::{
    exporters_json, instruments_json, mechanisms_json, tests_json, workloads_json,
};
use super::manuals::{
    exporter_manual, instrument_manual, study_manual, test_manual, workload_manual,
};
use super::mechanism_manual::mechanism_manual;

/// Where custom mechanisms are explained.
const CUSTOM: &str = "Your own mechanisms: exec:PROGRAM and lib:FILE.so (ipcperf list exec)";
/// Space between the kinds of the overview and their names.
const GAP: usize = 2;

/// A name and its description.
pub(crate) type NameAndAbout = (&'static str, &'static str);

/// A kind of entries that can be listed.
pub(crate) struct ListKind {
    /// Word that lists the entries.
    pub(crate) name: &'static str,
    /// Name and description of each entry, without trying whether it is available.
    pub(crate) entries: fn() -> Vec<NameAndAbout>,
    /// Formats the list, with the availability of each entry, at most this many columns wide.
    pub(crate) text: fn(usize) -> String,
    /// Returns the entries as a JSON array.
    pub(crate) json: fn() -> Value,
    /// Returns the manual of the entry with this name, at most this many columns wide.
    pub(crate) manual: fn(&str, usize) -> Option<String>,
}

impl ListKind {
    /// Whether an entry is called `name`.
    pub(crate) fn has_entry(&self, name: &str) -> bool {
        (self.entries)().iter().any(|(known, _)| *known == name)
    }
}

/// Every kind, in the order of the overview.
pub(crate) const LIST_KINDS: &[ListKind] = &[
    ListKind {
        name: "mechanisms",
        entries: mechanism_names,
        text: mechanism_list,
        json: mechanisms_json,
        manual: mechanism_manual,
    },
    ListKind {
        name: "custom",
        entries: custom_names,
        text: custom_list,
        json: custom_json,
        manual: custom_manual,
    },
    ListKind {
        name: "workloads",
        entries: workload_names,
        text: workload_list,
        json: workloads_json,
        manual: workload_manual,
    },
    ListKind {
        name: "instruments",
        entries: instrument_names,
        text: instrument_list,
        json: instruments_json,
        manual: instrument_manual,
    },
    ListKind {
        name: "studies",
        entries: study_names,
        text: study_list,
        json: studies_json,
        manual: study_manual,
    },
    ListKind {
        name: "exporters",
        entries: exporter_names,
        text: exporter_list,
        json: exporters_json,
        manual: exporter_manual,
    },
    ListKind {
        name: "tests",
        entries: test_names,
        text: test_list,
        json: tests_json,
        manual: test_manual,
    },
];

fn mechanism_names() -> Vec<NameAndAbout> {
    MECHANISMS.iter().map(|mechanism| (mechanism.name, mechanism.about)).collect()
}

fn workload_names() -> Vec<NameAndAbout> {
    WORKLOADS.iter().map(|facts| (facts.name, facts.about)).collect()
}

fn instrument_names() -> Vec<NameAndAbout> {
    INSTRUMENTS.iter().map(|instrument| (instrument.facts.name, instrument.about)).collect()
}

fn study_names() -> Vec<NameAndAbout> {
    Study::bundled_titles().to_vec()
}

fn exporter_names() -> Vec<NameAndAbout> {
    EXPORTERS.iter().map(|exporter| (exporter.name, exporter.about)).collect()
}

fn test_names() -> Vec<NameAndAbout> {
    TESTS.iter().map(|test| (test.name, test.about)).collect()
}

/// Lists the mechanisms, one line each, and names the entries of the other kinds. Tries no instrument and parses no
/// study, which would take too long for a list of everything.
pub(crate) fn overview(columns: usize) -> String {
    let others = &LIST_KINDS[1..];
    let indent = others.iter().map(|kind| kind.name.len()).max().unwrap_or(0) + GAP;
    let line = |kind: &ListKind| {
        let names: Vec<&str> = (kind.entries)().into_iter().map(|(name, _)| name).collect();
        paragraph(kind.name, &names.join(", "), indent, columns)
    };
    let others: Vec<String> = others.iter().map(line).collect();
    let closing =
        format!("{CUSTOM}\nManual of an entry, with its options and remedies: ipcperf list NAME");
    format!("{}\n\n{}\n\n{}", mechanism_lines(columns), others.join("\n"), wrap(&closing, columns))
}

/// Returns the list of mechanisms, with what is unavailable below it.
fn mechanism_list(columns: usize) -> String {
    let missing: Vec<String> =
        MECHANISMS.iter().flat_map(|mechanism| missing_parts(mechanism)).collect();
    let closing = format!("{CUSTOM}\nManual of a mechanism, with its options: ipcperf list NAME");
    with_notes(&mechanism_lines(columns), &missing, &closing, columns)
}

/// Returns one line for each mechanism.
fn mechanism_lines(columns: usize) -> String {
    let entry = |mechanism: &&Mechanism<'static>| ListEntry {
        name: mechanism.name,
        about: mechanism.about,
        availability: yes_or_no(&(mechanism.availability)()),
    };
    let entries: Vec<ListEntry<'_>> = MECHANISMS.iter().map(entry).collect();
    entry_list(["mechanism", "about", "works"], &entries, columns)
}

/// Returns what of `mechanism` cannot be used on this machine, each with the reason and the remedy.
fn missing_parts(mechanism: &Mechanism<'_>) -> Vec<String> {
    let name = mechanism.name;
    if let Err(why) = (mechanism.availability)() {
        return vec![format!("{name}: {why}")];
    }
    let values = mechanism.options.iter().flat_map(OptionSpec::unavailable_values);
    let line = |UnavailableValue { option, value, missing }| {
        format!("{name} without {option}={value}: {missing}")
    };
    values.map(line).collect()
}

/// Returns the list of the kinds of custom mechanisms.
fn custom_list(columns: usize) -> String {
    names_list("custom", &custom_names(), columns)
}

/// Returns the list of workloads.
fn workload_list(columns: usize) -> String {
    names_list("workload", &workload_names(), columns)
}

/// Returns the list of instruments. Tries each of them, which takes just under a second in total.
fn instrument_list(columns: usize) -> String {
    let tried: Vec<_> = INSTRUMENTS
        .iter()
        .map(|instrument| (instrument, instrument.check_available(&[])))
        .collect();
    let mut missing = Vec::new();
    for (Instrument { facts, .. }, result) in &tried {
        match result {
            Err(why) => missing.push(format!("{}: {why}", facts.name)),
            Ok(events) => {
                missing
                    .extend(events.iter().map(|event| format!("{} without {event}", facts.name)));
            }
        }
    }
    let entry = |(instrument, result): &(&'static Instrument, Result<_, _>)| ListEntry {
        name: instrument.facts.name,
        about: instrument.about,
        availability: yes_or_no(result),
    };
    let entries: Vec<ListEntry<'_>> = tried.iter().map(entry).collect();
    let list = entry_list(["instrument", "about", "works"], &entries, columns);
    with_notes(&list, &missing, "Manual of an instrument: ipcperf list NAME", columns)
}

/// Returns the list of export formats.
fn exporter_list(columns: usize) -> String {
    names_list("export format", &exporter_names(), columns)
}

/// Returns the list of tests of hypotheses.
fn test_list(columns: usize) -> String {
    names_list("test", &test_names(), columns)
}

/// Lists entries that are available everywhere.
fn names_list(heading: &str, names: &[NameAndAbout], columns: usize) -> String {
    let entry = |&(name, about): &NameAndAbout| ListEntry { name, about, availability: "" };
    let entries: Vec<ListEntry<'_>> = names.iter().map(entry).collect();
    let list = entry_list([heading, "about", ""], &entries, columns);
    with_notes(&list, &[], "More about one of them: ipcperf list NAME", columns)
}

/// Appends notes on what is unavailable, and a closing line.
fn with_notes(list: &str, missing: &[String], closing: &str, columns: usize) -> String {
    let notes = missing.iter().map(|note| wrap(note, columns));
    let notes: Vec<String> = notes.chain([wrap(closing, columns)]).collect();
    format!("{list}\n\n{}", notes.join("\n"))
}

const fn yes_or_no<T, E>(result: &Result<T, E>) -> &'static str {
    if result.is_ok() { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_entries_or_kinds_have_the_same_name() {
        let mut seen = HashSet::new();
        let kinds = LIST_KINDS.iter().map(|kind| kind.name);
        let entries = LIST_KINDS.iter().flat_map(|kind| (kind.entries)());
        for name in kinds.chain(entries.map(|(name, _)| name)) {
            assert!(seen.insert(name), "{name} is listed twice");
        }
    }

    #[test]
    fn the_overview_has_one_line_for_each_mechanism_and_every_name() {
        let text = overview(80);
        for mechanism in MECHANISMS {
            let begins = |line: &&str| line.split_whitespace().next() == Some(mechanism.name);
            let lines: Vec<&str> = text.lines().filter(begins).collect();
            assert_eq!(lines.len(), 1, "{}:\n{text}", mechanism.name);
            assert!(lines[0].ends_with(" yes") || lines[0].ends_with(" no"), "{}", lines[0]);
        }
        for (name, _) in LIST_KINDS.iter().flat_map(|kind| (kind.entries)()) {
            assert!(text.contains(name), "{name}:\n{text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.lines().count() <= MECHANISMS.len() + 16, "{text}");
    }

    #[test]
    fn descriptions_of_mechanisms_are_not_cut_at_80_columns() {
        let text = mechanism_lines(80);
        for Mechanism { name, about, .. } in MECHANISMS {
            assert!(text.contains(about), "shorten `about` of {name}:\n{text}");
        }
    }

    #[test]
    fn every_entry_of_a_list_without_probes_is_in_its_json() {
        for kind in LIST_KINDS.iter().filter(|kind| kind.name != "instruments") {
            let json = (kind.json)();
            let names: Vec<&str> = json
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|entry| entry["name"].as_str())
                .collect();
            let listed: Vec<&str> = (kind.entries)().iter().map(|(name, _)| *name).collect();
            assert_eq!(names, listed, "{}", kind.name);
            assert!(kind.has_entry(names[0]) && !kind.has_entry("no-such"), "{}", kind.name);
        }
    }
}
