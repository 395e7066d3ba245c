//! Environment of the machine, which results store with the measurements.
//!
//! ```text
//! files of the kernel -> topics (cpus, memory, ...) -> Environment -> warnings
//!                                                          |
//!                                                  header of the results
//! ```
//!
//! Each topic is one file here, which reads it, and one in [`ipcperf_model::environment`], which documents its fields.
//! The keys of all topics are stored in one flat object. The schema, `docs/environment.md` and `ipcperf machine` are
//! generated from the fields.

mod clock;
mod confinement;
mod control_group;
mod cpus;
mod environment;
mod kernel;
mod kernel_limits;
mod load;
mod memory;
mod network;
mod noise_setting;
mod power;
mod process_limits;
mod read;
mod scheduler;
mod virtualization;
mod warning;
mod warnings;

pub use environment::environment;
pub use memory::available_memory_bytes;
pub use noise_setting::{NoiseDetection, noise_detection};
pub use warning::{Severity, Warning};
pub use warnings::{STEAL_SHARE, warnings};
