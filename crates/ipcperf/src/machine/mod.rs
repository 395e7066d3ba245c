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

mod amount;
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
mod power;
mod process_limits;
mod program;
mod read;
mod scheduler;
mod virtualisation;
mod warning;
mod warnings;

pub(crate) use environment::{Environment, Section};
pub(crate) use memory::available_memory_bytes;
pub(crate) use program::{NoiseDetection, noise_detection};
pub(crate) use warning::{Severity, Warning};
pub(crate) use warnings::warnings;
