//! Watches the parties of a run from outside: one file for each instrument, one line in the list.
//!
//! ```text
//! Instrument -> available? -> Parties at their gate -> arm -> Watch -> finish -> Observations -> Pictures
//! ```
//!
//! An instrument is armed while the parties wait at a gate, before any of them has moved a message. It sees
//! them make two calls of `getrusage` around each phase of a run ([`MARK`]); what it tells is of the last
//! phase, the one that counts, and of nothing before, between or after.
//!
//! This crate knows nothing of mechanisms, plans or results files: it is handed process numbers, and hands
//! back [`Observation`]s.

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
#[cfg(test)]
mod testing;
#[cfg(target_os = "linux")]
mod tool_process;
mod tool_syscalls;
#[cfg(not(target_os = "linux"))]
mod unsupported;

pub use instrument::{Armed, Division, Instrument, Source, Watch};
pub use list::{INSTRUMENTS, find};
pub use run_result::{Dial, Played, Reading};
pub use targets::{MARK, Member, Parties, Scope};
