//! What there is to count with here, for whoever wants to know before a run.

use ipcperf_model::instrument::counters::{Known, Pmu, Space};
use perf_event_open_sys::bindings;

use super::{DEFAULT, paranoid};
use crate::counters::event::{Code, Event, Failed, Machine};
use crate::counters::perf::availability;

/// Every word for an event that is known here, and the sets, whether or not they can be had.
#[must_use]
pub fn known() -> Vec<Known> {
    Machine::here().known().collect()
}

/// What there is to count with here, found out by trying: it takes some milliseconds, and changes nothing.
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

/// How many events are counted at once: cycles and instructions, which may have counters of their own, and
/// instructions again and again.
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
