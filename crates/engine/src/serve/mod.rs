//! Serves one assignment: the whole life of a worker process.

mod peer;
mod validation;

use std::io::{BufRead, Write};

use ipcperf_model::{Failure, FailureKind, Mode, RunSpec, WorkerReport};
pub use peer::serve_peer;
use rustix::process::umask;

use crate::assignment::{Assignment, JournalLock};
use crate::channel::Mechanism;
use crate::privilege::Unprivileged;
use crate::worker::{comm, execute_programs, objects};
use crate::{leftovers, mechanism};

/// Runs a worker process: reads one [`Assignment`] from `input`, a line, carries it out, and writes one
/// [`WorkerReport`] to `output`. Messages of the [gate](crate::worker::Participants) use the same streams in between.
///
/// # Errors
/// Returns errors of reading or writing. A failed run is a normal report.
pub fn serve(input: &mut impl BufRead, output: &mut impl Write) -> std::io::Result<()> {
    // First of all, because mechanisms include third-party programs and libraries. If it fails, a custom mechanism
    // repeats the attempt and is refused.
    let _ = Unprivileged::new();
    let mut line = String::new();
    input.read_line(&mut line)?;
    let assignment: Assignment = serde_json::from_str(&line)?;
    if let Some(name) = &assignment.comm {
        comm::set(name);
    }
    // Files of this process are private to its user, whatever the command's umask.
    umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    // Without the lock, cleanup by another process may run while this process removes its names, which is harmless.
    let _lock = assignment.journal.as_deref().and_then(JournalLock::share);
    leftovers::install(assignment.names.clone());
    objects::exclude_open_descriptors();
    let report = carry_out(&assignment).unwrap_or_else(WorkerReport::Failed);
    serde_json::to_writer(&mut *output, &report)?;
    output.flush()
}

fn carry_out(assignment: &Assignment) -> Result<WorkerReport, Failure> {
    let spec = &assignment.spec;
    let mechanism = find(spec)?;
    validation::validate(spec, mechanism)?;
    Ok(match spec.mode {
        Mode::TwoPrograms => execute_programs(assignment),
        _ => (mechanism.execute)(spec, mechanism),
    })
}

fn find(spec: &RunSpec) -> Result<&'static Mechanism<'static>, Failure> {
    mechanism::find(&spec.mechanism).ok_or_else(|| {
        Failure::new(FailureKind::Worker, format!("unknown mechanism {}", spec.mechanism))
    })
}
