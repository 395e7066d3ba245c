//! `bpftrace`: counts each system call in the kernel with two probes, and builds histograms of the times.
//!
//! It serves as a comparison: the script that an experienced user would write (`script`), and its overhead.

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

/// The instrument.
pub(crate) const INSTRUMENT: Instrument = Instrument {
    facts: &facts::FACTS,
    about: "system calls as counted and timed by a bpftrace program, to compare with syscalls",
    needs: "bpftrace; root; a kernel with BPF and tracepoints",
    source: Source::External { available, arm },
};

#[cfg(target_os = "linux")]
use watch::{arm, available};
