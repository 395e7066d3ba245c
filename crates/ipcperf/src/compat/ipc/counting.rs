//! Runs with counters, under the event names of the originals.

use ipcperf_model::instrument::counters::{self, EventCount, PrivilegeLevel};
use ipcperf_model::observation::Observation;
use ipcperf_model::{Gate, Measurement, RunSpec, Unavailable};
use ipcperf_observe::counters::EventSet;
use ipcperf_observe::{Source, find};

use crate::compat::program_exit::ProgramExit;
use crate::compat::program_runner::ProgramRunner;
use ipcperf_plan::CaseInstruments;

/// Number of occurrences of each event of a set, in the order of the set.
pub(super) type Counts = Vec<(&'static str, u64)>;

/// Suffix that makes one counter count user and kernel space together, as the originals did.
const USER_AND_KERNEL: &str = ":uk";

/// Executes `spec` and counts the events of `set`: all at once if the processor can, else in several runs. The
/// measurement is that of the first run.
///
/// # Errors
/// Returns the event that cannot be counted here and why, or the reason why a run was stopped.
pub(super) fn run_with_counters(
    carrier: &mut ProgramRunner<'_>,
    name: &str,
    spec: &RunSpec,
    set: &'static EventSet,
) -> Result<(Measurement, Counts), ProgramExit> {
    let unavailable = |why: &Unavailable| {
        // Show the name without the suffix.
        let reason = why.reason.replace(USER_AND_KERNEL, "");
        ProgramExit::os_error(&format!("{name}: FAIL: -P {}: {reason}; {}", set.name, why.remedy))
    };
    let spec = RunSpec { gate: Gate::Closed, ..spec.clone() };
    let (mut first, mut seen) = (None, Vec::new());
    for part in event_groups(set).map_err(|why| unavailable(&why))? {
        let watched = CaseInstruments {
            names: vec![counters::FACTS.name],
            events: [(counters::FACTS.name, part)].into(),
            twin_of: None,
        };
        let (measured, told) =
            carrier.run(&spec, &watched).map_err(|why| ProgramExit::from_stopped(name, &why))?;
        first.get_or_insert(measured);
        seen.push(told.into_iter().map(|(_, observation)| observation).collect());
    }
    let counts = set.events.iter().map(|&event| sum(&seen, event).map(|count| (event, count)));
    let counts: Result<Counts, Unavailable> = counts.collect();
    let counts = counts.map_err(|why| unavailable(&why))?;
    first.map(|measured| (measured, counts)).ok_or_else(|| unavailable(&not_counted()))
}

/// Divides the events of `set` into groups that can be counted at once.
fn event_groups(set: &EventSet) -> Result<Vec<Vec<String>>, Unavailable> {
    let words: Vec<String> =
        set.events.iter().map(|event| format!("{event}{USER_AND_KERNEL}")).collect();
    let instrument = find(counters::FACTS.name).ok_or_else(not_counted)?;
    if let Some(why) = instrument.check_available(&words)?.into_iter().next() {
        return Err(why);
    }
    match instrument.source {
        Source::Events { divide, .. } => divide(&words),
        Source::Worker { .. } | Source::External { .. } => Err(not_counted()),
    }
}

fn not_counted() -> Unavailable {
    Unavailable {
        reason: "nothing was counted".to_owned(),
        remedy: "see which counters work here: ipcperf doctor".to_owned(),
    }
}

/// Returns the count of `event` over all roles, from the first of the `event_groups` that has it: instructions and
/// cycles are counted in every part.
fn sum(parts: &[Vec<Observation>], event: &str) -> Result<u64, Unavailable> {
    let of_part = |seen: &Vec<Observation>| {
        let rows = seen.iter().filter_map(Observation::row::<EventCount>);
        let of_event = rows.filter(|row| {
            row.space == PrivilegeLevel::Both
                && row.event.trim_end_matches(USER_AND_KERNEL) == event
        });
        let counts: Vec<Option<u64>> = of_event.map(|row| row.count).collect();
        (!counts.is_empty()).then_some(counts)
    };
    let counts = parts.iter().find_map(of_part).ok_or_else(not_counted)?;
    counts.into_iter().sum::<Option<u64>>().ok_or_else(not_counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(role: &str, event: &str, space: PrivilegeLevel, count: Option<u64>) -> Observation {
        let row = EventCount {
            event: event.to_owned(),
            space,
            count,
            running_share: Some(1.0),
            raw_count: count,
        };
        Observation::from_row(Some(role), &row)
    }

    #[test]
    fn an_event_is_the_sum_of_both_roles_and_never_zero_for_want_of_one() {
        let seen = [vec![
            row("sender", "MEM_READ:uk", PrivilegeLevel::Both, Some(3)),
            row("receiver", "MEM_READ:uk", PrivilegeLevel::Both, Some(4)),
            row("sender", "MEM_WRITE:uk", PrivilegeLevel::Both, Some(3)),
            row("receiver", "MEM_WRITE:uk", PrivilegeLevel::Both, None),
        ]];
        assert_eq!(sum(&seen, "MEM_READ").unwrap(), 7);
        assert!(sum(&seen, "MEM_WRITE").is_err(), "one role was not counted");
        assert!(sum(&seen, "AXI_READ").is_err());
    }

    #[test]
    fn what_is_counted_in_each_part_is_taken_once() {
        let part = |event, count| {
            ["sender", "receiver"]
                .iter()
                .flat_map(|role| {
                    let cycles = row(role, "CPU_CYCLES:uk", PrivilegeLevel::Both, Some(100));
                    [cycles, row(role, event, PrivilegeLevel::Both, Some(count))]
                })
                .collect::<Vec<_>>()
        };
        let seen = [part("LD_SPEC:uk", 1), part("ST_SPEC:uk", 2)];
        let counts = ["CPU_CYCLES", "LD_SPEC", "ST_SPEC"].map(|event| sum(&seen, event).unwrap());
        assert_eq!(counts, [200, 2, 4]);
    }
}
