//! ipcperf: a performance sandbox for inter-process communication.
//!
//! ```text
//! arguments -> Request -> Plan -> Run -> Sample -> Summary -> tables
//!                         |         |
//!                     topology   worker process, results file
//! ```

#![forbid(unsafe_code)]

mod build_info;
mod cli;
mod compat;
mod doctor;
mod error;
mod exit_signal;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod generated_docs;
mod journal;
mod preconditions;
mod printing;
mod runner;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Subcommand with which the command starts itself as a worker. Not for users.
const WORKER: &str = "worker";

fn main() -> ExitCode {
    let code = run();
    exit_signal::die_of_caught_signal();
    code
}

/// Does what the arguments ask for and returns the exit code.
fn run() -> ExitCode {
    let mut arguments = std::env::args_os();
    let called = arguments.next().unwrap_or_default();
    let arguments: Vec<OsString> = arguments.collect();
    if let Some(program) = compat::program_for_path(Path::new(&called)) {
        return check_and_run(|| cli::compat_main(program, &arguments));
    }
    match arguments.first() {
        Some(first) if first == WORKER => runner::serve_as_worker(arguments.get(1).cloned()),
        Some(first) if first == ipcperf_engine::worker::PEER => runner::serve_as_peer(),
        Some(first) if first == ipcperf_plan::DESCRIBE_LIBRARY => {
            ipcperf_plan::print_library_facts(arguments.get(1).cloned())
        }
        _ => check_and_run(cli::main),
    }
}

/// Checks the preconditions that all commands share, then runs `main`.
fn check_and_run(main: impl FnOnce() -> ExitCode) -> ExitCode {
    if let Err(error) = preconditions::establish() {
        return cli::report_error(&error);
    }
    main()
}
