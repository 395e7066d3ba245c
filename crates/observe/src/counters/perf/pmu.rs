//! Describes the machine's counters, for commands that report them without a run.

use ipcperf_model::instrument::counters::{KnownEvent, Pmu, PrivilegeLevel};
use perf_event_open_sys::bindings;

use super::{DEFAULT_EVENTS, availability, paranoid};
use crate::counters::event::{Event, EventCode, EventError, Machine};

/// Returns every event name known on this machine, and the sets, including events that are unavailable.
#[must_use]
pub fn known_events() -> Vec<KnownEvent> {
    Machine::current().known_events().collect()
}

/// Describes the available counters by trying them, which takes a few milliseconds and changes nothing.
#[must_use]
pub fn pmu() -> Pmu {
    let machine = Machine::current();
    let try_event = |word: &str| {
        availability::try_event(word, machine).map(drop).map_err(EventError::into_unavailable)
    };
    Pmu {
        names: machine.pmus(),
        core: machine.core.name().to_owned(),
        counters: max_simultaneous_events(),
        perf_event_paranoid: paranoid(),
        events: DEFAULT_EVENTS.iter().map(|&word| (word.to_owned(), try_event(word))).collect(),
    }
}

/// Returns how many events can be counted at the same time: cycles and instructions, which may have dedicated counters,
/// and then more counters for instructions until no more fit.
fn max_simultaneous_events() -> Option<u64> {
    let event = |config: u32| Event {
        name: String::new(),
        code: EventCode {
            kind: bindings::PERF_TYPE_HARDWARE,
            config: config.into(),
            ..EventCode::default()
        },
        spaces: vec![PrivilegeLevel::User],
    };
    let mut group = vec![event(bindings::PERF_COUNT_HW_CPU_CYCLES)];
    while availability::fits(&group) {
        group.push(event(bindings::PERF_COUNT_HW_INSTRUCTIONS));
    }
    u64::try_from(group.len() - 1).ok().filter(|&counters| counters > 0)
}
