//! `kernel-functions`: the functions of the kernel that carry the data of each role, counted and timed.
//!
//! ```text
//! candidates by kernel -> two programs at each function -> counts between the marks -> Row -> pictures
//! ```
//!
//! What a system call spends is spent in functions: `pipe_write` copies and waits, the rest of `write` is the
//! way there and back. Two BPF programs sit at the entry and the return of each (fentry, fexit). What a
//! kernel has not, or lets nobody trace, is left out and said to be; the rest goes on.

#[cfg(target_os = "linux")]
mod bpf_layout;
#[cfg(target_os = "linux")]
mod table;
#[cfg(all(test, target_os = "linux"))]
mod tests;
#[cfg(target_os = "linux")]
mod watch;

#[cfg(not(target_os = "linux"))]
use crate::unsupported::{arm, available};
use crate::{Instrument, Source};
use ipcperf_model::instrument::kernel_functions as facts;

/// The instrument.
pub(crate) const INSTRUMENT: Instrument = Instrument {
    facts: &facts::FACTS,
    about: "functions of the kernel that carry the data: count, and how their times are distributed",
    needs: "Linux 6.1 or later, on arm64 6.4, with function tracing; root, or CAP_BPF and CAP_PERFMON",
    source: Source::Outside { available, arm },
};

#[cfg(target_os = "linux")]
use watch::{arm, available};
