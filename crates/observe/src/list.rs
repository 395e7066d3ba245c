//! The list of all instruments.

use crate::instrument::Instrument;
use crate::{
    bpftrace, counters, kernel_functions, kernel_objects, profile, rusage, sched, strace, syscalls,
};

/// Every instrument, in the order of the documentation.
pub const INSTRUMENTS: &[Instrument] = &[
    rusage::INSTRUMENT,
    syscalls::INSTRUMENT,
    sched::INSTRUMENT,
    kernel_functions::INSTRUMENT,
    kernel_objects::INSTRUMENT,
    counters::INSTRUMENT,
    profile::INSTRUMENT,
    strace::INSTRUMENT,
    bpftrace::INSTRUMENT,
];

/// Returns the instrument called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Instrument> {
    INSTRUMENTS.iter().find(|instrument| instrument.facts.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_of_results_know_every_instrument() {
        let known = ipcperf_model::instrument::INSTRUMENTS.iter().map(|facts| facts.name);
        let listed = INSTRUMENTS.iter().map(|instrument| instrument.facts.name);
        assert_eq!(listed.collect::<Vec<_>>(), known.collect::<Vec<_>>());
    }

    #[test]
    fn names_are_words_and_occur_once() {
        for (index, instrument) in INSTRUMENTS.iter().enumerate() {
            assert!(
                instrument.facts.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
            );
            assert!(
                INSTRUMENTS[..index].iter().all(|other| other.facts.name != instrument.facts.name)
            );
        }
    }
}
