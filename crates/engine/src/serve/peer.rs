//! The whole life of a peer in a separate program.

use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use ipcperf_model::{Failure, FailureKind};
use rustix::fs::Mode;
use rustix::process::umask;

use super::find;
use crate::assignment::{Assignment, JournalLock, PeerAssignment};
use crate::channel::{ProgramReport, Visitors};
use crate::leftovers;
use crate::namespaces::Namespaces;
use crate::privilege::Unprivileged;
use crate::signal_dispositions::die_with_input;
use crate::worker::{comm, objects, panic_failure};

/// Runs a peer: reads one [`PeerAssignment`] from `input`, a line, carries it out, and writes one report to `output`. The
/// process ends when its standard input is closed.
///
/// # Errors
/// Returns errors of reading or writing. A failed run is a normal report.
pub fn serve_peer(input: &mut impl BufRead, output: &mut impl Write) -> std::io::Result<()> {
    // As in a worker.
    let _ = Unprivileged::new();
    let mut line = String::new();
    input.read_line(&mut line)?;
    die_with_input()?;
    let assignment: PeerAssignment = serde_json::from_str(&line)?;
    let answer = catch_unwind(AssertUnwindSafe(|| carry_out(assignment)))
        .unwrap_or_else(|panic| Err(panic_failure(&*panic)));
    writeln!(output)?;
    serde_json::to_writer(&mut *output, &answer)?;
    writeln!(output)?;
    output.flush()
}

fn carry_out(assignment: PeerAssignment) -> Result<ProgramReport, Failure> {
    let PeerAssignment { assignment: Assignment { spec, names, journal, comm }, program } =
        assignment;
    if let Some(name) = comm {
        comm::set(&name);
    }
    umask(match program.place.visitors {
        Visitors::SameUser => Mode::RWXG | Mode::RWXO,
        // The folder is hidden; other users who know its name may use what is in it.
        Visitors::AnyUser => Mode::empty(),
    });
    let _lock = journal.as_deref().and_then(JournalLock::share);
    leftovers::install(names);
    objects::exclude_open_descriptors();
    let (role, namespaces, worker) =
        (program.part.role, Namespaces::own(), &program.place.namespaces);
    namespaces.check_clock(worker, role)?;
    let folder = &program.place.folder;
    namespaces.publish(folder, role);
    let mechanism = find(&spec)?;
    let meet = mechanism.meet.ok_or_else(|| {
        let place = format!("{} cannot run in {}", mechanism.name, spec.mode.name());
        Failure::new(FailureKind::Worker, place)
    })?;
    meet(&spec, mechanism, &program).map_err(|failure| {
        let peer = Namespaces::of_other_peer(folder, role);
        namespaces.explain(peer.as_ref(), worker, failure.with_role(role), role)
    })
}
