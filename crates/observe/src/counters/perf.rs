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

use super::event::{Event, Failed, Machine};
use super::event_sets;
use crate::Division;
pub use pmu::{known, pmu};
pub(super) use watch::arm;

/// Default events; those that the machine lacks are left out.
pub(super) const DEFAULT: [&str; 14] = [
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
struct Tried {
    events: Vec<Event>,
    lacking: Vec<Unavailable>,
}

impl Tried {
    /// Adds an unavailable event. The reason that this user may not count in the kernel is the same for all events and
    /// is added once.
    fn add(&mut self, why: Unavailable) {
        if !self.lacking.contains(&why) {
            self.lacking.push(why);
        }
    }
}

/// Tries each of the events on this process.
///
/// # Errors
/// A name is not an event.
fn tried(asked: &[String]) -> Result<Tried, Unavailable> {
    let machine = Machine::here();
    let mut tried = Tried::default();
    for word in words(asked) {
        match availability::try_event(&word, machine) {
            Ok(trial) => {
                tried.events.push(trial.event);
                trial.without.into_iter().for_each(|why| tried.add(why));
            }
            Err(Failed::NoEvent(why)) => return Err(why),
            Err(Failed::Absent(why)) => tried.add(why),
        }
    }
    Ok(tried)
}

/// Returns the requested events, or the default events if none were requested.
fn words(asked: &[String]) -> Vec<String> {
    match asked {
        [] => DEFAULT.map(str::to_owned).to_vec(),
        asked => expanded(asked),
    }
}

/// Returns the reasons why events are unavailable, wholly or in part.
pub(super) fn available(asked: &[String]) -> Result<Vec<Unavailable>, Unavailable> {
    let Tried { events, lacking } = tried(asked)?;
    match lacking.first() {
        Some(_) if events.is_empty() && asked.is_empty() => Err(refusal::nothing(&lacking)),
        Some(first) if events.is_empty() => Err(first.clone()),
        _ => Ok(lacking),
    }
}

/// Divides the available events into groups as large as the processor allows; no groups if no event is available.
pub(super) fn divide(asked: &[String]) -> Division {
    Ok(event_groups::parts(&tried(asked)?.events, availability::fits))
}

/// Reads `/proc/sys/kernel/perf_event_paranoid`.
fn paranoid() -> Option<i64> {
    fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse().ok()
}

/// Replaces each set in `words` by its events. Each event occurs once, in order.
fn expanded(words: &[String]) -> Vec<String> {
    let mut events: Vec<String> = Vec::new();
    for word in words {
        let set = event_sets::set(word);
        let named = set.map_or_else(Vec::new, |set| set.events.to_vec());
        let named = if named.is_empty() { vec![word.as_str()] } else { named };
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
            expanded(&words),
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
