//! Conformance suite that every mechanism in the list must pass.
//!
//! A mechanism that is added to the list is tested without any change here. Each test runs the real command and reads
//! its results file. Times are only compared with a timeout, because a machine may be busy. During development,
//! `IPCPERF_MECHANISMS=NAME` selects a single mechanism; `lib:` with the path of a library selects a custom one.
//! Without it, the example library is tested too.

mod borrowing;
mod boundaries;
mod descriptors;
mod foreign_connections;
mod integrity;
mod invalid_specs;
mod killed;
mod limits;
mod low_resources;
mod mechanisms;
mod mixed_sizes;
mod paced;
mod peers;
mod random_cases;
mod random_kills;
mod timeout;

#[path = "../support/custom.rs"]
mod custom;
#[path = "../support/max_message.rs"]
mod max_message;
#[path = "../support/processes.rs"]
mod processes;
#[path = "../support/results.rs"]
mod results;
#[allow(dead_code, reason = "each test takes what it needs")]
#[path = "../support/sandbox.rs"]
mod sandbox;
#[path = "../support/skip.rs"]
mod skip;
