//! `kernel-functions`: the kernel functions that carry the data of each role, counted and timed.
//!
//! ```text
//! candidates by kernel -> two programs at each function -> counts between the marks -> Row -> tables and figures
//! ```
//!
//! A system call spends its time in kernel functions: in `write`, `pipe_write` copies and waits, and the remainder is
//! the cost of entering and leaving the kernel. Two BPF programs are attached to the entry and the return of each
//! function (fentry, fexit). Functions that a kernel does not have, or does not allow to be traced, are left out and
//! reported as such; the others are still traced.

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
    about: "kernel functions that carry the data: number of calls and distribution of their times",
    needs: "Linux 6.1 or later (arm64: 6.4) with function tracing; root, or CAP_BPF and CAP_PERFMON",
    source: Source::External { available, arm },
};

#[cfg(target_os = "linux")]
use watch::{arm, available};
