//! `bpftrace`: each system call met by two probes in the kernel, which count and quantise.
//!
//! It is there for comparison: what a user who knows it would write (`script`), and what it costs.

#[cfg(target_os = "linux")]
mod maps;
#[cfg(target_os = "linux")]
mod script;
#[cfg(target_os = "linux")]
mod watch;

use crate::instrument::{Instrument, Source};
#[cfg(not(target_os = "linux"))]
use crate::unsupported::{arm, available};
use ipcperf_model::instrument::bpftrace as facts;

/// The line in the list.
pub(crate) const BPFTRACE: Instrument = Instrument {
    facts: &facts::FACTS,
    about: "system calls as a bpftrace program counts and times them, for comparison",
    needs: "bpftrace; root; a kernel with BPF and tracepoints",
    source: Source::Outside { available, arm },
};

#[cfg(target_os = "linux")]
use watch::{arm, available};
