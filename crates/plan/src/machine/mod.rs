//! The machine: what results must say of where they were made.
//!
//! ```text
//! files of the kernel -> topics (cpus, memory, ...) -> Environment -> warnings
//!                                                          |
//!                                                  header of the results
//! ```
//!
//! A topic is one file: its fields, documented, and how they are read. Its keys stand flat in
//! the results; the schema, `docs/environment.md` and `ipcperf machine` are made from the fields.

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
mod noise_detection;
mod power;
mod process_limits;
mod read;
mod scheduler;
mod virtualisation;
mod warning;
mod warnings;

pub use environment::environment;
pub use memory::available_memory_bytes;
pub use noise_detection::{NoiseDetection, noise_detection};
pub use warning::{Severity, Warning};
pub use warnings::warnings;
