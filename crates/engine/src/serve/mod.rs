//! Serves one assignment: what a worker process does from its start to its end.

mod admission;
mod assignment;

use std::io::{BufRead, Write};

pub use assignment::{Assignment, JournalLock};
use ipcperf_model::{Failure, FailureKind, Report};
use rustix::process::umask;

use crate::privilege::Unprivileged;
use crate::worker::{comm, objects};
use crate::{leftovers, mechanism};

/// What a worker process does: reads one [`Assignment`] from `input`, a line, carries it out, writes one
/// [`Report`] to `output`. In between, what is said at the [gate](crate::worker::Gathering) goes by the same ways.
///
/// # Errors
/// What went wrong in reading or writing; a run that failed is a report like any other.
pub fn serve(input: &mut impl BufRead, output: &mut impl Write) -> std::io::Result<()> {
    // Before anything else: mechanisms are programs and libraries of others, too. Those of the user's own are
    // refused where it was not possible (see there).
    let _ = Unprivileged::new();
    let mut line = String::new();
    input.read_line(&mut line)?;
    let Assignment { spec, names, journal, comm } = serde_json::from_str(&line)?;
    if let Some(name) = comm {
        comm::take(&name);
    }
    // Nothing that this process makes is another user's business, whatever the command's umask.
    umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    // Where it cannot be held, a sweeper could come while this process removes its names: as good.
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
