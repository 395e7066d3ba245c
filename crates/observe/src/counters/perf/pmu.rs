//! Describes the machine's counters, for commands that report them without a run.

use ipcperf_model::instrument::counters::{Known, Pmu, Space};
use perf_event_open_sys::bindings;

use super::{DEFAULT, availability, paranoid};
use crate::counters::event::{Code, Event, Failed, Machine};

/// Returns every event name known on this machine, and the sets, including events that are unavailable.
#[must_use]
pub fn known() -> Vec<Known> {
    Machine::here().known().collect()
}

/// Describes the available counters by trying them, which takes a few milliseconds and changes nothing.
#[must_use]
pub fn pmu() -> Pmu {
    let machine = Machine::here();
    let tried = |word: &str| availability::try_event(word, machine).map(drop).map_err(Failed::why);
    Pmu {
        names: machine.pmus(),
        core: machine.core.name().to_owned(),
        counters: counters(),
        paranoid: paranoid(),
        events: DEFAULT.iter().map(|&word| (word.to_owned(), tried(word))).collect(),
    }
}

/// Returns how many events can be counted at the same time: cycles and instructions, which may have dedicated counters,
/// and then more counters for instructions until no more fit.
fn counters() -> Option<u64> {
    let event = |config: u32| Event {
        name: String::new(),
        code: Code { kind: bindings::PERF_TYPE_HARDWARE, config: config.into(), ..Code::default() },
        spaces: vec![Space::User],
    };
    let mut group = vec![event(bindings::PERF_COUNT_HW_CPU_CYCLES)];
    while availability::fits(&group) {
        group.push(event(bindings::PERF_COUNT_HW_INSTRUCTIONS));
    }
    u64::try_from(group.len() - 1).ok().filter(|&counters| counters > 0)
}
