//! Everything that runs inside a worker.
//!
//! A worker is one fresh process for one run of one case. The command hands it a [`RunSpec`] and the
//! [`names`] that it may make, on standard input; the worker opens the [`mechanism`], starts the
//! parties (one thread, two threads, or two forked processes), has them play the [`workload`], and
//! prints one [`Report`].
//!
//! ```text
//! Assignment -> worker -> mechanism (ends) -> party x workload -> PartyReport -> Report
//! ```
//!
//! The engine knows no TOML, no storage and no plots, and nothing of the command above it.

mod bins;
pub mod buffer;
pub mod clock;
mod disturbance;
pub mod handling;
pub mod histogram;
pub mod host;
pub mod limits;
pub mod mechanism;
pub mod names;
pub mod payload;
pub mod placement;
pub mod privilege;
mod report;
pub mod signals;
mod spec;
pub mod worker;
pub mod workload;

pub use disturbance::{Disturbance, disturbance};
pub(crate) use report::NO_SPACE;
pub use report::{
    Failure, FailureKind, Measurement, Repeat, Report, Role, RoleUsage, RoundTrips, exhausted,
};
pub use spec::{KernelBuffer, Mode, Privilege, Repeats, Rest, RunSpec, TouchCheck, WarmUp};
