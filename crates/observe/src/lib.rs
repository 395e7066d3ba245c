//! Instruments that observe the peers of a run from outside: one file per instrument, one line in the list.
//!
//! ```text
//! Instrument -> available? -> Peers at their gate -> arm -> Watch -> finish -> Observations
//! ```
//!
//! An instrument is armed while the peers wait at a gate, before any of them has moved a message. Each peer calls
//! `getrusage` twice around each phase of a run ([`MARK`]), which the instrument sees. Its results cover only the last
//! phase, which is the measured one, and nothing before, between or after.
//!
//! This crate does not know about mechanisms, plans or results files: it takes process IDs and returns
//! [`Observation`](ipcperf_model::Observation)s. The tables and figures made of them are in
//! [`ipcperf_model::instrument`].

#[cfg(target_os = "linux")]
mod bpf;
mod bpftrace;
pub mod counters;
#[cfg(target_os = "linux")]
mod grant;
#[cfg(target_os = "linux")]
mod group_reaper;
mod instrument;
pub mod kernel_functions;
pub mod kernel_objects;
mod list;
pub mod profile;
mod run_result;
pub mod rusage;
pub mod sched;
mod strace;
#[cfg(target_os = "linux")]
mod syscall_table;
pub mod syscalls;
mod targets;
#[cfg(all(test, target_os = "linux"))]
mod testing;
#[cfg(target_os = "linux")]
mod tool_process;
mod tool_syscalls;
#[cfg(not(target_os = "linux"))]
mod unsupported;

pub use instrument::{ArmResult, EventGroupsResult, Instrument, Source, Watch};
pub use list::{INSTRUMENTS, find};
pub use run_result::{CounterFd, PacedResult, Reading, RunResult};
pub use targets::{MARK, Member, Scope, Targets};
