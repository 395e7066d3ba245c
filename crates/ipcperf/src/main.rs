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
mod footing;
#[cfg(test)]
mod hostile;
mod journal;
mod last_signal;
mod printing;
mod program;
#[cfg(test)]
mod published;
mod runner;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Subcommand with which the command starts itself as a worker. Not for users.
const WORKER: &str = "worker";

fn main() -> ExitCode {
    let code = run();
    last_signal::die_if_any_arrived();
    code
}

/// Does what the arguments ask for and returns the exit code.
fn run() -> ExitCode {
    let mut arguments = std::env::args_os();
    let called = arguments.next().unwrap_or_default();
    let arguments: Vec<OsString> = arguments.collect();
    if let Some(program) = dropin::named_by(Path::new(&called)) {
        return as_command(|| cli::main_of(program, &arguments));
    }
    match arguments.first() {
        Some(first) if first == WORKER => runner::serve_as_worker(arguments.get(1).cloned()),
        Some(first) if first == ipcperf_plan::LIBRARY => {
            ipcperf_plan::answer_for_library(arguments.get(1).cloned())
        }
        _ => as_command(cli::main),
    }
}

/// Checks the preconditions that all commands share, then runs `main`.
fn as_command(main: impl FnOnce() -> ExitCode) -> ExitCode {
    if let Err(error) = footing::secure() {
        return cli::refuse(&error);
    }
    main()
}
