//! `sched`: what the scheduler does with the parties. Who runs, who waits for a CPU, who sleeps and why, who
//! wakes whom and how long that takes, and a time line of the beginning.
//!
//! ```text
//! bpf/sched.bpf.c: switches, wakings, marks -> by thread, in the kernel -> watch -> Row -> pictures
//! ```
//!
//! Two things that the scheduler does say all: a switch, which tells who leaves a CPU, why, and who gets it;
//! and a waking, which tells who wakes whom. When a thread runs again after a sleep, the waking that came in
//! between parts the time since into sleep and the wait for a CPU. Phases have to be marked too, and what
//! tells of a mark tells of every system call: looking at its number costs each call of each process some
//! 40 ns. That is the most of what is added to a call that does not sleep.

#[cfg(all(test, target_os = "linux"))]
mod tests;
#[cfg(target_os = "linux")]
mod watch;

#[cfg(not(target_os = "linux"))]
use crate::unsupported::{arm, available};
use crate::{Instrument, Source};
use ipcperf_model::instrument::sched as facts;

/// The instrument.
pub(crate) const INSTRUMENT: Instrument = Instrument {
    facts: &facts::FACTS,
    about: "time on CPU, runnable and asleep; who woke whom, and how fast; who ran when",
    needs: "Linux 6.1 or later; root, or CAP_BPF and CAP_PERFMON",
    source: Source::Outside { available, arm },
};

#[cfg(target_os = "linux")]
use watch::{arm, available};
