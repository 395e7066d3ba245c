//! `syscalls`: every system call of each role, counted and timed in the kernel.
//!
//! Two BPF programs sit at the entry and the exit of every system call. They count between the marks of each
//! party: how often a call was made, how many bytes it asked for and returned, how often it failed, and how
//! long it took, as distributions over powers of two. A call that begins before an interval, or ends after
//! it, is none of its calls; nor are the marks.

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
    about: "system calls of each role: count, bytes, errors, and how their times are distributed",
    needs: "Linux 6.1 or later; root, or CAP_BPF and CAP_PERFMON",
    source: Source::Outside { available, arm },
};

#[cfg(target_os = "linux")]
use watch::{arm, available};
