//! ipcperf: a performance laboratory for inter-process communication.
//!
//! ```text
//! arguments -> Request -> Plan -> Run -> Sample -> Summary -> tables
//!                         |         |
//!                     topology   worker process, results file
//! ```

#![forbid(unsafe_code)]

mod cli;
mod error;
mod export;
mod figure;
#[cfg(test)]
mod hostile;
mod machine;
mod output;
mod parallel;
mod plan;
#[cfg(test)]
mod published;
mod report;
mod results;
mod runner;
mod summary;

use std::process::ExitCode;

/// The name under which the command starts itself as a worker. Not for users.
const WORKER: &str = "worker";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == WORKER) {
        return runner::serve_as_worker(arguments.next());
    }
    cli::main()
}
