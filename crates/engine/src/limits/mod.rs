//! Hardware limits of this machine, which mechanisms are compared with.
//!
//! ```text
//! Topology, sizes, Effort -> measure -> HardwareLimits -> header of a results file, `ipcperf machine`
//! ```
//!
//! All measurements run on new threads: they run within the command, which may have other threads and so cannot fork. A
//! limit that cannot be measured is `None`, with the reason in
//! [`Limits::missing`](ipcperf_model::hardware_limits::HardwareLimits::missing).

pub mod cacheline;
pub mod clock_bound;
pub mod copy;
mod error;
mod measure;
mod median;
mod memory;
mod ping_pong;
pub mod switch;
pub mod system_call;
mod threads;
pub mod wake;

pub use error::LimitError;
pub use measure::measure;

/// Amount of time to spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// About 0.1 s with ten sizes of copy and no cold copy: for the header of a results file.
    Brief,
    /// Two to three seconds: for a survey, or a page about the machine.
    Thorough,
}
