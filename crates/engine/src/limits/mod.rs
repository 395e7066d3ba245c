//! What this machine cannot beat: the figures that mechanisms are held against.
//!
//! ```text
//! Topology, sizes, Effort -> measure -> Limits -> header of a results file, `ipcperf machine`
//! ```
//!
//! Everything is measured on threads of its own, since it runs within the command, which may have
//! others and so cannot fork. What cannot be measured is `None`, and [`Limits::missing`] says why.

pub mod cacheline;
pub mod copy;
mod measure;
mod median;
mod memory;
mod ping_pong;
pub mod switch;
pub mod system_call;
mod threads;
mod unmeasured;
pub mod wake;

pub use measure::measure;
pub use unmeasured::Unmeasured;

/// How much time may be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// About 0.1 s with ten sizes of copy, without the cold one: for the header of a results file.
    Brief,
    /// Two to three seconds: for a survey, or a page about the machine.
    Thorough,
}
