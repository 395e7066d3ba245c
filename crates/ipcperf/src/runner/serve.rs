//! Worker side: this program, started by itself for one run, or by a worker for one peer.

use std::ffi::OsString;
use std::process::ExitCode;

use ipcperf_engine::process::set_parent_death_signal;
use ipcperf_engine::serve::{serve, serve_peer};
use rustix::process::{Pid, Signal, getppid};

use ipcperf_plan::program_file;

/// Serves one run on standard input and output. `parent` is the process that started the worker; if it dies, so does
/// the worker.
pub(crate) fn serve_as_worker(parent: Option<OsString>) -> ExitCode {
    program_file::set_process_name();
    // Fails only where there is no such signal.
    let _ = set_parent_death_signal(Signal::KILL);
    let expected = parent.and_then(|text| text.to_str()?.parse().ok()).and_then(Pid::from_raw);
    if expected.is_some() && getppid() != expected {
        return ExitCode::FAILURE;
    }
    exit_code(&serve(&mut std::io::stdin().lock(), &mut std::io::stdout().lock()))
}

/// Serves one peer of a run in mode 2exec on standard input and output.
pub(crate) fn serve_as_peer() -> ExitCode {
    program_file::set_process_name();
    exit_code(&serve_peer(&mut std::io::stdin().lock(), &mut std::io::stdout().lock()))
}

fn exit_code(served: &std::io::Result<()>) -> ExitCode {
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
