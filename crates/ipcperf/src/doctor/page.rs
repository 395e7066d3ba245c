//! Output of `ipcperf doctor`, for people and for scripts.

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::Pmu;
use ipcperf_model::printable::pretty_json;
use serde_json::{Value, json};

use crate::doctor::{Ailment, Extent, Fate, Finding, LeftBehind, Subject};
use ipcperf_plan::machine::Warning;
use ipcperf_report::terminal::cells::new_table;
use ipcperf_report::terminal::{warning_section, warnings_json};

/// Returns the page: working items, one line per kind; problems, with their remedies; warnings about measurements.
pub(crate) fn doctor_page(
    findings: &[Finding],
    pmu: &Pmu,
    warnings: &[Warning],
    left: &[LeftBehind],
    columns: usize,
) -> String {
    let mut parts = vec![working(findings, pmu, columns)];
    parts.push(match ailing(findings).as_slice() {
        [] => "Nothing is missing here.".to_owned(),
        groups => missing(groups, columns),
    });
    parts.push(warning_section(warnings, columns));
    if !left.is_empty() {
        parts.push(left_table(left, columns));
    }
    parts.push(closing(left));
    parts.join("\n\n")
}

/// Returns the same as JSON.
pub(crate) fn doctor_json(
    findings: &[Finding],
    pmu: &Pmu,
    warnings: &[Warning],
    left: &[LeftBehind],
) -> String {
    let findings: Vec<Value> = findings.iter().map(finding_json).collect();
    let told = json!({
        "findings": findings,
        "pmu": pmu_json(pmu),
        "warnings": warnings_json(warnings),
        "leftovers": left.iter().flat_map(left_json).collect::<Vec<_>>(),
    });
    pretty_json(&told)
}

fn left_json(left: &LeftBehind) -> impl Iterator<Item = Value> + '_ {
    let (pid, began) = left.owner.as_ref().map(|owner| (owner.pid, &owner.began)).unzip();
    left.names.iter().map(move |(name, fate)| {
        json!({
            "kind": name.kind(),
            "name": name.to_string(),
            "fate": fate,
            "command_pid": pid,
            "command_began": began,
        })
    })
}

/// Formats the leftovers of killed runs, one row each.
fn left_table(left: &[LeftBehind], columns: usize) -> String {
    let mut table = new_table(columns);
    table.set_header(["Left by killed runs", "what it is", "of the command", "now"]);
    for left in left {
        let command = left.owner.as_ref().map_or_else(
            || "unknown".to_owned(),
            |owner| format!("process {}, begun {}", owner.pid, owner.began),
        );
        for (name, fate) in &left.names {
            let now = match fate {
                Fate::Found => "still there",
                Fate::Removed => "removed",
                Fate::NotRemoved => "cannot be removed",
            };
            table.add_row([&name.to_string(), name.kind(), &command, now]);
        }
    }
    table.to_string()
}

/// Returns the last lines: what was changed, and what to do next.
fn closing(left: &[LeftBehind]) -> String {
    let fates = || left.iter().flat_map(|left| &left.names).map(|(_, fate)| *fate);
    let removed = fates().filter(|fate| *fate == Fate::Removed).count();
    let changed = match removed {
        0 => "Nothing was changed.".to_owned(),
        count => format!("What killed runs left was removed ({count})."),
    };
    let found = if fates().any(|fate| fate == Fate::Found) {
        " ipcperf doctor --clean, or the next command that measures, removes what killed runs left."
    } else {
        ""
    };
    format!("{changed}{found} What a remedy names takes effect for the next command.")
}

fn pmu_json(pmu: &Pmu) -> Value {
    let event = |(name, had): &(String, Result<(), Unavailable>)| {
        let why = had.as_ref().err();
        json!({
            "event": name,
            "works": had.is_ok(),
            "reason": why.map(|why| &why.reason),
            "remedy": why.map(|why| &why.remedy),
        })
    };
    json!({
        "names": pmu.names,
        "core": pmu.core,
        "counters": pmu.counters,
        "events": pmu.events.iter().map(event).collect::<Vec<_>>(),
    })
}

/// Returns the events that the processor counts, in one line.
fn counted(pmu: &Pmu) -> String {
    let Some(counters) = pmu.counters else { return "none".to_owned() };
    let events = pmu.events.iter().filter(|(_, had)| had.is_ok()).map(|(name, _)| name.as_str());
    let (names, events) = (pmu.names.join(", "), events.collect::<Vec<_>>().join(", "));
    format!("{names}, {} core, {counters} events at once: {events}", pmu.core)
}

fn finding_json(finding: &Finding) -> Value {
    let ailment = finding.ailment.as_ref();
    json!({
        "subject": finding.subject,
        "name": finding.name,
        "works": ailment.is_none(),
        "missing": ailment.map(|ailment| ailment.extent),
        "reason": ailment.map(|ailment| &ailment.reason),
        "remedy": ailment.map(|ailment| &ailment.remedy),
    })
}

fn working(findings: &[Finding], pmu: &Pmu, columns: usize) -> String {
    let mut table = new_table(columns);
    table.set_header(["Works here", ""]);
    for (subject, title) in
        [(Subject::Mechanism, "mechanisms"), (Subject::Instrument, "instruments")]
    {
        let working = findings.iter().filter(|one| one.subject == subject && one.ailment.is_none());
        let names: Vec<&str> = working.map(|one| &*one.name).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        table.add_row([title.to_owned(), names]);
    }
    table.add_row(["counters of the processor".to_owned(), counted(pmu)]);
    table.to_string()
}

/// A problem and all items that have it.
struct Group<'a> {
    names: Vec<String>,
    ailment: &'a Ailment,
}

/// Groups items by problem: one remedy often fixes several items.
fn ailing(findings: &[Finding]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for finding in findings {
        let Some(ailment) = &finding.ailment else { continue };
        let name = match (finding.subject, ailment.extent) {
            (Subject::Instrument, Extent::Part) => format!("{} (an event of it)", finding.name),
            _ => finding.name.clone(),
        };
        let same = |group: &&mut Group<'_>| {
            (&group.ailment.reason, &group.ailment.remedy) == (&ailment.reason, &ailment.remedy)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.names.push(name),
            None => groups.push(Group { names: vec![name], ailment }),
        }
    }
    groups
}

fn missing(groups: &[Group<'_>], columns: usize) -> String {
    let mut table = new_table(columns);
    table.set_header(["Does not work", "because", "what would make it work"]);
    for group in groups {
        table.add_row([
            group.names.join("\n"),
            group.ailment.reason.clone(),
            group.ailment.remedy.clone(),
        ]);
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(subject: Subject, name: &str, why: Option<(Extent, &str)>) -> Finding {
        let ailment = why.map(|(extent, reason)| Ailment {
            extent,
            reason: reason.to_owned(),
            remedy: "become root".to_owned(),
        });
        Finding { subject, name: name.to_owned(), ailment }
    }

    fn examined() -> Vec<Finding> {
        vec![
            found(Subject::Mechanism, "pipe", None),
            found(Subject::Mechanism, "pipe.wait=poll", Some((Extent::Part, "no poll here"))),
            found(Subject::Instrument, "syscalls", Some((Extent::Whole, "BPF is refused"))),
            found(Subject::Instrument, "sched", Some((Extent::Whole, "BPF is refused"))),
        ]
    }

    #[test]
    fn a_reason_stands_once_with_all_that_it_keeps_from_working() {
        let page = doctor_page(&examined(), &Pmu::default(), &[], &[], 116);
        assert_eq!(page.matches("BPF is refused").count(), 1, "{page}");
        for word in ["pipe", "syscalls", "sched", "no poll here", "become root"] {
            assert!(page.contains(word), "{word} is not in\n{page}");
        }
    }

    #[test]
    fn a_machine_that_has_all_is_told_so() {
        let page =
            doctor_page(&[found(Subject::Mechanism, "pipe", None)], &Pmu::default(), &[], &[], 116);
        assert!(page.contains("Nothing is missing here."), "{page}");
    }

    #[test]
    fn what_the_processor_counts_is_told_in_a_line() {
        let why = Unavailable { reason: "absent".to_owned(), remedy: "none".to_owned() };
        let pmu = Pmu {
            names: vec!["armv8_pmuv3".to_owned()],
            core: "cortex-a72".to_owned(),
            counters: Some(7),
            paranoid: None,
            events: vec![("cycles".to_owned(), Ok(())), ("LLC-loads".to_owned(), Err(why))],
        };
        assert_eq!(counted(&pmu), "armv8_pmuv3, cortex-a72 core, 7 events at once: cycles");
        assert_eq!(counted(&Pmu::default()), "none");
        assert_eq!(pmu_json(&pmu)["events"][1]["reason"], "absent");
    }

    #[test]
    fn scripts_get_every_finding() {
        let told: Value =
            serde_json::from_str(&doctor_json(&examined(), &Pmu::default(), &[], &[])).unwrap();
        let findings = told["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 4);
        assert_eq!(findings[0]["works"], true);
        assert_eq!(findings[1]["missing"], "part");
        assert_eq!(findings[2]["remedy"], "become root");
    }
}
