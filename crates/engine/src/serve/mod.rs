//! Serves one assignment: the whole life of a worker process.

mod admission;
mod assignment;

use std::io::{BufRead, Write};

pub use assignment::{Assignment, JournalLock};
use ipcperf_model::{Failure, FailureKind, Report};
use rustix::process::umask;

use crate::privilege::Unprivileged;
use crate::worker::{comm, objects};
use crate::{leftovers, mechanism};

/// Runs a worker process: reads one [`Assignment`] from `input`, a line, carries it out, and writes one [`Report`] to
/// `output`. Messages of the [gate](crate::worker::Gathering) use the same streams in between.
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
        comm::take(&name);
    }
    // Files of this process are private to its user, whatever the command's umask.
    umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    // Without the lock, cleanup by another process may run while this process removes its names, which is harmless.
    let _lock = journal.as_deref().and_then(JournalLock::share);
    leftovers::install(names);
    objects::leave_out_what_is_open();
    let report = match mechanism::find(&spec.mechanism) {
        Some(mechanism) => match admission::admit(&spec, mechanism) {
            Ok(()) => (mechanism.execute)(&spec, mechanism),
            Err(failure) => Report::Failed(failure),
        },
        None => Report::Failed(Failure::new(
            FailureKind::Worker,
            format!("no mechanism is called {}", spec.mechanism),
        )),
    };
    serde_json::to_writer(&mut *output, &report)?;
    output.flush()
}
