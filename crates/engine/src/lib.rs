//! Code that runs inside a worker.
//!
//! A worker is one fresh process for one run of one case. On standard input it gets a
//! [`RunSpec`](ipcperf_model::RunSpec) and the [names](leftovers::RunNames) that it may create. It opens the
//! [`mechanism`], starts the peers (one thread, two threads, or two forked processes), runs the [`workload`] in them,
//! and prints one [`Report`](ipcperf_model::WorkerReport).
//!
//! ```text
//! Assignment -> serve -> mechanism (ends) -> worker: peer x workload -> PeerReport -> WorkerReport
//! ```
//!
//! The engine contains no TOML, storage or plotting code, and does not depend on the command above it.

pub mod assignment;
pub mod buffer;
pub mod channel;
pub mod clock;
mod disturbance_criteria;
mod harness_failure;
pub mod histogram;
pub mod host;
pub mod leftovers;
pub mod limits;
pub mod mechanism;
mod message_content;
pub mod message_order;
pub mod namespaces;
#[cfg(target_os = "linux")]
mod parent_death;
pub mod payload_check;
pub mod peer_memory;
pub mod placement;
pub(crate) mod platform;
pub mod privilege;
pub mod process;
pub mod serve;
pub mod shared_state;
pub mod signal_dispositions;
pub mod temp_dir;
#[cfg(test)]
mod testing;
mod thread_room;
pub mod worker;
pub mod workload;

pub use disturbance_criteria::{Disturbance, find_disturbance};
pub use harness_failure::exhaustion_remedy;
pub(crate) use harness_failure::{NO_SPACE, harness_failure};
