//! `strace`: stops each system call twice by ptrace and prints it as a line, which is read after the run.
//!
//! It serves as a comparison: the tool that everyone has, and its overhead. It is run with the cheapest options:
//! numbers instead of names and structures, so that it does not read the peers' memory, and no signals. All calls are
//! traced; a filter in the kernel (`--seccomp-bpf`) is available only for programs that strace itself starts.

#[cfg(target_os = "linux")]
mod line;
#[cfg(target_os = "linux")]
mod phases;
#[cfg(target_os = "linux")]
mod watch;

use crate::instrument::{Instrument, Source};
#[cfg(not(target_os = "linux"))]
use crate::unsupported::{arm, available};
use ipcperf_model::instrument::strace as facts;

/// The instrument.
pub(crate) const INSTRUMENT: Instrument = Instrument {
    facts: &facts::FACTS,
    about: "system calls as timed by strace, to compare with syscalls; stops the peer twice per call",
    needs: "strace; permission to trace processes (ptrace)",
    source: Source::External { available, arm },
};

#[cfg(target_os = "linux")]
use watch::{arm, available};
