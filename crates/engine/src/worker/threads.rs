//! Peers as threads of the worker.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;

use ipcperf_model::{Failure, FailureKind, RunSpec};
use rustix::io::Errno;

use super::connections::Connections;
use super::peer::PeerRunner;
use super::peer_report::PeerReport;
use super::peer_results::{PeerResult, collect_reports, grace};
use super::{Ends, comm};
use crate::channel::peer_placement;
use crate::harness_failure;
use crate::thread_room::check_thread_room;

/// Runs all peers and returns their reports, in their order. After the first failure the other threads are left running:
/// the worker ends with this run.
pub(super) fn run(
    spec: &RunSpec,
    ends: Ends,
    connections: &Connections,
) -> Result<Vec<PeerReport>, Failure> {
    let (report, reports) = mpsc::channel();
    let (count, helper) = (ends.peers.len(), ends.helper);
    check_thread_room(count).map_err(spawn_failure)?;
    let all_started = Arc::new(Barrier::new(count));
    for (number, peer) in ends.peers.into_iter().enumerate() {
        let (report, spec, connections) = (report.clone(), spec.clone(), connections.clone());
        let (role, all_started) = (peer.role, Arc::clone(&all_started));
        let play = move || {
            // What a peer needs must not be taken from the room in which the others start.
            all_started.wait();
            let placement = peer_placement(&spec);
            let connections = &connections;
            let peer = PeerRunner { spec: &spec, peer, connections, placement, helper };
            let result = catch_unwind(AssertUnwindSafe(|| peer.run()))
                .unwrap_or_else(|panic| Err(panic_failure(&*panic)))
                .map_err(|failure| failure.with_role(role));
            // The receiving end is closed only if the worker is about to end.
            let _ = report.send((number, result));
        };
        let named = thread::Builder::new().name(comm::thread_name(role));
        named.spawn(play).map_err(|error| {
            // Starting a thread fails only with an error of the system.
            spawn_failure(Errno::from_io_error(&error).unwrap_or(Errno::AGAIN))
        })?;
    }
    drop(report);
    let mut results = receive_results(&reports, count);
    results.sort_by_key(|(number, _)| *number);
    collect_reports(results.into_iter().map(|(_, result)| result))
}

/// Result of a peer with its number.
type NumberedResult = (usize, PeerResult);

/// Returns the answers of `count` peers. After a failure, waits briefly for the other answers.
fn receive_results(reports: &mpsc::Receiver<NumberedResult>, count: usize) -> Vec<NumberedResult> {
    let mut results: Vec<NumberedResult> = Vec::with_capacity(count);
    while results.len() < count {
        let failure = results.iter().find_map(|(_, result)| result.as_ref().err());
        let next = match failure {
            Some(failure) => reports.recv_timeout(grace(failure)).ok(),
            None => reports.recv().ok(),
        };
        match next {
            Some(result) => results.push(result),
            None => break,
        }
    }
    results
}

fn spawn_failure(errno: Errno) -> Failure {
    harness_failure(FailureKind::SetUp, "starting a thread", errno)
}

/// Converts a peer's panic into a failure.
pub(crate) fn panic_failure(panic: &(dyn std::any::Any + Send)) -> Failure {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("panic without a message");
    Failure::new(FailureKind::Panicked, message).with_remedy("this is a defect: please report it")
}
