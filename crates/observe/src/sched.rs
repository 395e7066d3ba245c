//! `sched`: scheduling of the peers: who runs, who waits for a CPU, who sleeps and why, who wakes whom and how long
//! that takes, and a timeline of the start.
//!
//! ```text
//! bpf/sched.bpf.c: switches, wakeups, marks -> by thread, in the kernel -> watch -> Row -> tables and figures
//! ```
//!
//! Two events of the scheduler are sufficient: a context switch shows which thread leaves a CPU, why, and which thread
//! gets it; a wakeup shows which thread wakes which. When a thread runs again after a sleep, the wakeup in between
//! divides the time since the switch into sleep and wait for a CPU. Phases must be marked too, and the tracepoint that
//! shows the marks fires on every system call: checking the call's number costs each call of each process about 40 ns,
//! most of the overhead of a call that does not sleep.

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
    about: "time of each role on CPU, runnable and asleep; what woke it; wake-up latency; timeline",
    needs: "Linux 6.1 or later; root, or CAP_BPF and CAP_PERFMON",
    source: Source::External { available, arm },
};

#[cfg(target_os = "linux")]
use watch::{arm, available};
