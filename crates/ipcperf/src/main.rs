//! ipcperf: a performance laboratory for inter-process communication.
//!
//! ```text
//! arguments -> Request -> Plan -> Run -> Sample -> Summary -> tables
//!                         |         |
//!                     topology   worker process, results file
//! ```

#![forbid(unsafe_code)]

mod cli;
mod doctor;
mod dropin;
mod error;
mod exhibit;
mod export;
mod figure;
#[cfg(test)]
mod hostile;
mod hypothesis;
mod machine;
mod origin;
mod output;
mod parallel;
mod plan;
mod printable;
#[cfg(test)]
mod published;
mod report;
mod results;
mod runner;
mod study;
mod summary;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// What the command calls itself where it starts itself, whatever it was called by.
const OWN_NAME: &str = env!("CARGO_PKG_NAME");
/// The name under which the command starts itself as a worker. Not for users.
const WORKER: &str = "worker";
/// The name under which it starts itself to look at a library, which may take that process down.
const LIBRARY: &str = "library";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let called = arguments.next().unwrap_or_default();
    let arguments: Vec<OsString> = arguments.collect();
    if let Some(program) = dropin::named_by(Path::new(&called)) {
        return cli::main_of(program, &arguments);
    }
    match arguments.first() {
        Some(first) if first == WORKER => runner::serve_as_worker(arguments.get(1).cloned()),
        Some(first) if first == LIBRARY => plan::answer_for_library(arguments.get(1).cloned()),
        _ => cli::main(),
    }
}
