//! Two peers as two threads of the worker.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;

use ipcperf_model::{Failure, FailureKind, Role, RunSpec};
use rustix::io::Errno;

use super::peer::{PeerReport, PeerRunner};
use super::peer_results::{PeerResult, collect_reports, grace, missing_end};
use super::{Ends, comm};
use crate::channel::peer_placement;
use crate::harness_failure;
use crate::shared_state::Control;

/// Runs both peers and returns their reports, the sender's first. After the first failure the other thread is left
/// running: the worker ends with this run.
pub(super) fn run(
    spec: &RunSpec,
    ends: Ends,
    control: &'static Control,
) -> Result<Vec<PeerReport>, Failure> {
    let (report, reports) = mpsc::channel();
    let roles = [Role::Sender, Role::Receiver];
    let (helper, times) = (ends.helper, ends.times);
    let second = ends.second.ok_or_else(missing_end)?;
    let peers = [ends.first, second].into_iter().zip(ends.memory);
    for (role, (ends, memory)) in roles.into_iter().zip(peers) {
        let (report, spec) = (report.clone(), spec.clone());
        let play = move || {
            let placement = peer_placement(&spec);
            let peer =
                PeerRunner { spec: &spec, role, ends, memory, times, control, placement, helper };
            let result = catch_unwind(AssertUnwindSafe(|| peer.run()))
                .unwrap_or_else(|panic| Err(panic_failure(&*panic)))
                .map_err(|failure| failure.with_role(role));
            // The receiving end is closed only if the worker is about to end.
            let _ = report.send(result);
        };
        thread::Builder::new()
            .name(comm::thread_name(role))
            .spawn(play)
            .map_err(|error| spawn_failure(&error))?;
    }
    drop(report);
    let mut done = collect_reports(receive_results(&reports))?;
    done.sort_by_key(|report| report.usage.role == Role::Receiver);
    Ok(done)
}

/// Returns both answers. After a failure, waits briefly for the other answer.
fn receive_results(reports: &mpsc::Receiver<PeerResult>) -> Vec<PeerResult> {
    let first = reports.recv();
    let second = match &first {
        Ok(Err(failure)) => reports.recv_timeout(grace(failure)).ok(),
        _ => reports.recv().ok(),
    };
    first.into_iter().chain(second).collect()
}

fn spawn_failure(error: &std::io::Error) -> Failure {
    // Starting a thread fails only with an error of the system.
    let errno = Errno::from_io_error(error).unwrap_or(Errno::AGAIN);
    harness_failure(FailureKind::SetUp, "starting a thread", errno)
}

/// Converts a peer's panic into a failure.
pub(super) fn panic_failure(panic: &(dyn std::any::Any + Send)) -> Failure {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("panic without a message");
    Failure::new(FailureKind::Panicked, message).with_remedy("this is a defect: please report it")
}
