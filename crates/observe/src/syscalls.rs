//! `syscalls`: every system call of each role, counted and timed in the kernel.
//!
//! Two BPF programs are attached to the entry and the exit of every system call. They count between the marks of each
//! peer: number of calls, bytes requested and returned, errors, and the distribution of durations over powers of two. A
//! call that begins before the interval or ends after it is not counted; neither are the marks.

#[cfg(target_os = "linux")]
mod bpf_layout;
#[cfg(all(test, target_os = "linux"))]
mod tests;
#[cfg(target_os = "linux")]
mod watch;

#[cfg(not(target_os = "linux"))]
use crate::unsupported::{arm, available};
use crate::{Instrument, Source};
use ipcperf_model::instrument::syscalls as facts;

/// The instrument.
pub(crate) const INSTRUMENT: Instrument = Instrument {
    facts: &facts::FACTS,
    about: "system calls of each role: count, bytes, errors, and distribution of times",
    needs: "Linux 6.1 or later; root, or CAP_BPF and CAP_PERFMON",
    source: Source::External { available, arm },
};

#[cfg(target_os = "linux")]
use watch::{arm, available};
