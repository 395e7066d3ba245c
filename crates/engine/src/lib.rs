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

pub mod buffer;
pub mod channel;
pub mod clock;
mod disturbance;
mod harness_failure;
pub mod histogram;
pub mod host;
pub mod leftovers;
pub mod limits;
pub mod mechanism;
mod message_content;
pub mod payload;
pub mod placement;
pub mod privilege;
pub mod serve;
pub mod shared_state;
pub mod signals;
#[cfg(test)]
mod spec;
pub mod worker;
pub mod workload;

pub use disturbance::{Disturbance, disturbance};
pub(crate) use harness_failure::NO_SPACE;
pub use harness_failure::{exhausted, harness_failure};
