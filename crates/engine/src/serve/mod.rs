//! Serves one assignment: the whole life of a worker process.

mod assignment;
mod validation;

use std::io::{BufRead, Write};

pub use assignment::{Assignment, JournalLock};
use ipcperf_model::{Failure, FailureKind, WorkerReport};
use rustix::process::umask;

use crate::privilege::Unprivileged;
use crate::worker::{comm, objects};
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
    let Assignment { spec, names, journal, comm } = serde_json::from_str(&line)?;
    if let Some(name) = comm {
        comm::set(&name);
    }
    // Files of this process are private to its user, whatever the command's umask.
    umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    // Without the lock, cleanup by another process may run while this process removes its names, which is harmless.
    let _lock = journal.as_deref().and_then(JournalLock::share);
    leftovers::install(names);
    objects::exclude_open_descriptors();
    let report = match mechanism::find(&spec.mechanism) {
        Some(mechanism) => match validation::validate(&spec, mechanism) {
            Ok(()) => (mechanism.execute)(&spec, mechanism),
            Err(failure) => WorkerReport::Failed(failure),
        },
        None => WorkerReport::Failed(Failure::new(
            FailureKind::Worker,
            format!("unknown mechanism {}", spec.mechanism),
        )),
    };
    serde_json::to_writer(&mut *output, &report)?;
    output.flush()
}
