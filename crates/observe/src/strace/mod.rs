//! `strace`: each system call stopped twice by ptrace, told in a line, and read after the run.
//!
//! It is there for comparison: what everyone has, and what it costs. It is asked for as little as it can do:
//! numbers instead of names and structures, so that it reads nothing of the parties' memory, and no signals.
//! All calls are traced; a filter in the kernel (`--seccomp-bpf`) is only for programs that strace starts
//! itself.

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

/// The line in the list.
pub(crate) const STRACE: Instrument = Instrument {
    facts: &facts::FACTS,
    about: "system calls as strace times them, for comparison: stops each call twice",
    needs: "strace; the right to trace processes (ptrace)",
    source: Source::Outside { available, arm },
};

#[cfg(target_os = "linux")]
use watch::{arm, available};
