//! Events opened with `perf_event_open`
//! ([perf_event_open(2)](https://man7.org/linux/man-pages/man2/perf_event_open.2.html)): tried on this process, divided
//! into groups that fit into the processor's counters, and opened on the peers.

mod availability;
mod event_groups;
mod group;
mod pmu;
mod refusal;
mod scale;
mod watch;

use std::fs;

use ipcperf_model::Unavailable;

use super::event::{Event, EventError, Machine};
use super::event_sets;
use crate::EventGroupsResult;
pub use pmu::{known_events, pmu};
pub(super) use watch::arm;

/// Default events; those that the machine lacks are left out.
pub(super) const DEFAULT_EVENTS: [&str; 14] = [
    "cycles",
    "instructions",
    "MEM_READ",
    "MEM_WRITE",
    "L1D_CACHE",
    "L1D_CACHE_REFILL",
    "L2D_CACHE",
    "L2D_CACHE_REFILL",
    "LLC-loads",
    "LLC-load-misses",
    "dTLB-load-misses",
    "BUS_ACCESS",
    "branches",
    "branch-misses",
];

/// The available events, and why the others are unavailable.
#[derive(Debug, Default)]
struct AvailableEvents {
    events: Vec<Event>,
    unavailable: Vec<Unavailable>,
}

impl AvailableEvents {
    /// Adds an unavailable event. The reason that this user may not count in the kernel is the same for all events and
    /// is added once.
    fn add(&mut self, why: Unavailable) {
        if !self.unavailable.contains(&why) {
            self.unavailable.push(why);
        }
    }
}

/// Tries each of the events on this process.
///
/// # Errors
/// A name is not an event.
fn try_events(requested: &[String]) -> Result<AvailableEvents, Unavailable> {
    let machine = Machine::current();
    let mut result = AvailableEvents::default();
    for name in requested_or_default(requested) {
        match availability::try_event(&name, machine) {
            Ok(trial) => {
                result.events.push(trial.event);
                trial.restriction.into_iter().for_each(|why| result.add(why));
            }
            Err(EventError::UnknownEvent(why)) => return Err(why),
            Err(EventError::NotSupported(why)) => result.add(why),
        }
    }
    Ok(result)
}

/// Returns the requested events, or the default events if none were requested.
fn requested_or_default(requested: &[String]) -> Vec<String> {
    match requested {
        [] => DEFAULT_EVENTS.map(str::to_owned).to_vec(),
        requested => expand_sets(requested),
    }
}

/// Returns the reasons why events are unavailable, wholly or in part.
pub(super) fn available(requested: &[String]) -> Result<Vec<Unavailable>, Unavailable> {
    let AvailableEvents { events, unavailable } = try_events(requested)?;
    match unavailable.first() {
        Some(_) if events.is_empty() && requested.is_empty() => {
            Err(refusal::no_default_event(&unavailable))
        }
        Some(first) if events.is_empty() => Err(first.clone()),
        _ => Ok(unavailable),
    }
}

/// Divides the available events into groups as large as the processor allows; no groups if no event is available.
pub(super) fn divide(requested: &[String]) -> EventGroupsResult {
    Ok(event_groups::divide(&try_events(requested)?.events, availability::fits))
}

/// Reads `/proc/sys/kernel/perf_event_paranoid`.
fn paranoid() -> Option<i64> {
    fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse().ok()
}

/// Replaces each set in `words` by its events. Each event occurs once, in order.
fn expand_sets(names: &[String]) -> Vec<String> {
    let mut events: Vec<String> = Vec::new();
    for name in names {
        let set = event_sets::find_set(name);
        let named = set.map_or_else(Vec::new, |set| set.events.to_vec());
        let named = if named.is_empty() { vec![name.as_str()] } else { named };
        for event in named {
            if !events.iter().any(|known| known == event) {
                events.push(event.to_owned());
            }
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_its_events_each_once() {
        let words = ["l1d", "mem", "cycles", "MEM_READ"].map(str::to_owned);
        assert_eq!(
            expand_sets(&words),
            [
                "INSTR_EXECUTED",
                "CLOCK_CYCLES",
                "L1_DCACHE_ACCESS",
                "L1_DCACHE_REFILL",
                "MEM_READ",
                "MEM_WRITE",
                "cycles"
            ]
        );
    }
}
