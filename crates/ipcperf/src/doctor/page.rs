//! Output of `ipcperf doctor`, for people and for scripts.

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::Pmu;
use ipcperf_model::printable::pretty_json;
use serde_json::{Value, json};

use crate::doctor::{Extent, Finding, ItemKind, LeftoverState, Problem, RunLeftovers};
use ipcperf_plan::machine::Warning;
use ipcperf_report::terminal::cells::new_table;
use ipcperf_report::terminal::{warning_section, warnings_json};

/// Returns the page: working items, one line per kind; problems, with their remedies; warnings about measurements.
pub(crate) fn doctor_page(
    findings: &[Finding],
    pmu: &Pmu,
    warnings: &[Warning],
    left: &[RunLeftovers],
    columns: usize,
) -> String {
    let mut parts = vec![working_table(findings, pmu, columns)];
    parts.push(match problem_groups(findings).as_slice() {
        [] => "Everything works here.".to_owned(),
        groups => problem_table(groups, columns),
    });
    parts.push(warning_section(warnings, columns));
    if !left.is_empty() {
        parts.push(leftovers_table(left, columns));
    }
    parts.push(closing(left));
    parts.join("\n\n")
}

/// Returns the same as JSON.
pub(crate) fn doctor_json(
    findings: &[Finding],
    pmu: &Pmu,
    warnings: &[Warning],
    left: &[RunLeftovers],
) -> String {
    let findings: Vec<Value> = findings.iter().map(finding_json).collect();
    let document = json!({
        "findings": findings,
        "pmu": pmu_json(pmu),
        "warnings": warnings_json(warnings),
        "leftovers": left.iter().flat_map(leftovers_json).collect::<Vec<_>>(),
    });
    pretty_json(&document)
}

fn leftovers_json(left: &RunLeftovers) -> impl Iterator<Item = Value> + '_ {
    let (pid, began) = left.owner.as_ref().map(|owner| (owner.pid, &owner.began)).unzip();
    left.objects.iter().map(move |(name, fate)| {
        json!({
            "kind": name.kind(),
            "name": name.to_string(),
            "state": fate,
            "command_pid": pid,
            "command_began": began,
        })
    })
}

/// Formats the leftovers of killed runs, one row each.
fn leftovers_table(left: &[RunLeftovers], columns: usize) -> String {
    let mut table = new_table(columns);
    table.set_header(["Leftover of a killed run", "kind", "left by", "state"]);
    for left in left {
        let command = left.owner.as_ref().map_or_else(
            || "unknown".to_owned(),
            |owner| format!("process {}, started {}", owner.pid, owner.began),
        );
        for (name, fate) in &left.objects {
            let now = match fate {
                LeftoverState::Found => "found",
                LeftoverState::Removed => "removed",
                LeftoverState::NotRemoved => "cannot be removed",
            };
            table.add_row([&name.to_string(), name.kind(), &command, now]);
        }
    }
    table.to_string()
}

/// Returns the last lines: what was changed, and what to do next.
fn closing(left: &[RunLeftovers]) -> String {
    let fates = || left.iter().flat_map(|left| &left.objects).map(|(_, fate)| *fate);
    let removed = fates().filter(|fate| *fate == LeftoverState::Removed).count();
    let changed = match removed {
        0 => "Nothing was changed.".to_owned(),
        count => format!("Leftovers of killed runs were removed: {count}."),
    };
    let found = if fates().any(|fate| fate == LeftoverState::Found) {
        " ipcperf doctor --clean, or the next measuring command, removes leftovers of killed runs."
    } else {
        ""
    };
    format!("{changed}{found} A remedy takes effect with the next ipcperf command.")
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
fn countable_events(pmu: &Pmu) -> String {
    let Some(counters) = pmu.counters else { return "none".to_owned() };
    let events = pmu.events.iter().filter(|(_, had)| had.is_ok()).map(|(name, _)| name.as_str());
    let (names, events) = (pmu.names.join(", "), events.collect::<Vec<_>>().join(", "));
    format!("{names}, {} core, {counters} events at once: {events}", pmu.core)
}

fn finding_json(finding: &Finding) -> Value {
    let ailment = finding.problem.as_ref();
    json!({
        "subject": finding.subject,
        "name": finding.name,
        "works": ailment.is_none(),
        "missing": ailment.map(|ailment| ailment.extent),
        "reason": ailment.map(|ailment| &ailment.reason),
        "remedy": ailment.map(|ailment| &ailment.remedy),
    })
}

fn working_table(findings: &[Finding], pmu: &Pmu, columns: usize) -> String {
    let mut table = new_table(columns);
    table.set_header(["Works here", ""]);
    for (subject, title) in
        [(ItemKind::Mechanism, "mechanisms"), (ItemKind::Instrument, "instruments")]
    {
        let working = findings.iter().filter(|one| one.subject == subject && one.problem.is_none());
        let names: Vec<&str> = working.map(|one| &*one.name).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        table.add_row([title.to_owned(), names]);
    }
    table.add_row(["hardware counters".to_owned(), countable_events(pmu)]);
    table.to_string()
}

/// A problem and all items that have it.
struct ProblemGroup<'a> {
    names: Vec<String>,
    ailment: &'a Problem,
}

/// Groups items by problem: one remedy often fixes several items.
fn problem_groups(findings: &[Finding]) -> Vec<ProblemGroup<'_>> {
    let mut groups: Vec<ProblemGroup<'_>> = Vec::new();
    for finding in findings {
        let Some(ailment) = &finding.problem else { continue };
        let name = match (finding.subject, ailment.extent) {
            (ItemKind::Instrument, Extent::Part) => format!("{} (one event)", finding.name),
            _ => finding.name.clone(),
        };
        let same = |group: &&mut ProblemGroup<'_>| {
            (&group.ailment.reason, &group.ailment.remedy) == (&ailment.reason, &ailment.remedy)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.names.push(name),
            None => groups.push(ProblemGroup { names: vec![name], ailment }),
        }
    }
    groups
}

fn problem_table(groups: &[ProblemGroup<'_>], columns: usize) -> String {
    let mut table = new_table(columns);
    table.set_header(["Does not work", "reason", "remedy"]);
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

    fn found(subject: ItemKind, name: &str, why: Option<(Extent, &str)>) -> Finding {
        let ailment = why.map(|(extent, reason)| Problem {
            extent,
            reason: reason.to_owned(),
            remedy: "become root".to_owned(),
        });
        Finding { subject, name: name.to_owned(), problem: ailment }
    }

    fn examined() -> Vec<Finding> {
        vec![
            found(ItemKind::Mechanism, "pipe", None),
            found(ItemKind::Mechanism, "pipe.wait=poll", Some((Extent::Part, "no poll here"))),
            found(ItemKind::Instrument, "syscalls", Some((Extent::Whole, "BPF is refused"))),
            found(ItemKind::Instrument, "sched", Some((Extent::Whole, "BPF is refused"))),
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
        let page = doctor_page(
            &[found(ItemKind::Mechanism, "pipe", None)],
            &Pmu::default(),
            &[],
            &[],
            116,
        );
        assert!(page.contains("Everything works here."), "{page}");
    }

    #[test]
    fn what_the_processor_counts_is_told_in_a_line() {
        let why = Unavailable { reason: "absent".to_owned(), remedy: "none".to_owned() };
        let pmu = Pmu {
            names: vec!["armv8_pmuv3".to_owned()],
            core: "cortex-a72".to_owned(),
            counters: Some(7),
            perf_event_paranoid: None,
            events: vec![("cycles".to_owned(), Ok(())), ("LLC-loads".to_owned(), Err(why))],
        };
        assert_eq!(
            countable_events(&pmu),
            "armv8_pmuv3, cortex-a72 core, 7 events at once: cycles"
        );
        assert_eq!(countable_events(&Pmu::default()), "none");
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
