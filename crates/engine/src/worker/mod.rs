//! One run in a worker process.
//!
//! The worker opens the mechanism while it has one thread and then starts the peers: itself (one thread), threads, or
//! forked processes, which it only supervises. The peers meet at a barrier, touch their own buffers after the
//! fork, and report. Their reports are combined into one [`WorkerReport`], which [`serve`](crate::serve) prints.

pub(crate) mod calibration;
pub(crate) mod comm;
mod connections;
pub(crate) mod counter_fds;
mod ends;
pub(crate) mod gate;
mod helper_usage;
mod kernel_threads;
mod merged_round_trips;
mod message_memory;
pub(crate) mod objects;
mod paced_report;
mod peer;
mod peer_ends;
mod peer_pacing;
mod peer_program;
mod peer_report;
mod peer_results;
mod phases;
pub(crate) mod proc_pid;
mod processes;
mod programs;
mod running_peer;
mod split;
mod streams;
mod threads;
mod usage;

pub use calibration::{MIN_RUN_NS, run_stretch};
use connections::Connections;
pub use counter_fds::MAX_COUNTER_FDS;
use ends::Ends;
pub use gate::{Participants, PeerId, PeerScope};
use merged_round_trips::merge;
use paced_report::PacedReport;
use peer::PeerRunner;
pub(crate) use peer_program::meet;
use peer_report::PeerReport;
pub use programs::PEER;
pub use split::user_system_split;
pub(crate) use streams::{output, save as keep_streams};
pub(crate) use threads::panic_failure;
pub use usage::steal_ns;

use ipcperf_model::{
    Failure, FailureKind, Measurement, Mode, PeerMeasurement, Role, RoleUsage, RoundTrips, RunSpec,
    WorkerReport,
};

use crate::assignment::Assignment;
use crate::channel::{Channel, Granted, Mechanism, PeerPlacement};
use crate::harness_failure;
use crate::peer_memory::PeerMemory;

/// Carries out one run of mechanism `M` in this process and its forks. Only the opening and the loops of the timed region
/// depend on its type.
pub(crate) fn execute<M: Channel>(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    let measured = Ends::open::<M>(spec, mechanism.helper).and_then(|ends| {
        let (granted, is_lossy) = (ends.granted, ends.peers.iter().any(|one| one.ends.is_lossy()));
        let run = || Ok(PeerReports { reports: run_inherited(spec, ends)?, granted, is_lossy });
        measure(spec, run)
    });
    report(measured)
}

/// Carries out one run in separately executed programs.
pub(crate) fn execute_programs(assignment: &Assignment) -> WorkerReport {
    report(measure(&assignment.spec, || programs::run(assignment)))
}

fn report(measured: Result<Measurement, Failure>) -> WorkerReport {
    match measured {
        Ok(measurement) => WorkerReport::Measured(Box::new(measurement)),
        Err(failure) => WorkerReport::Failed(failure),
    }
}

/// Reports of all peers of a run.
struct PeerReports {
    /// The senders' first.
    reports: Vec<PeerReport>,
    /// Sizes that the kernel granted.
    granted: Granted,
    /// Whether the mechanism may lose messages.
    is_lossy: bool,
}

/// Combines the reports that `run` returns with the time that was stolen meanwhile.
fn measure(
    spec: &RunSpec,
    run: impl FnOnce() -> Result<PeerReports, Failure>,
) -> Result<Measurement, Failure> {
    let cpus = spec.all_cpus();
    let steal_before_ns = steal_ns(&cpus);
    let reports = run()?;
    let steal_ns =
        steal_before_ns.zip(steal_ns(&cpus)).map(|(before, after)| after.saturating_sub(before));
    Ok(Measurement { steal_ns, ..combine(reports, spec)? })
}

/// Runs peers that inherit the ends which the worker has opened.
fn run_inherited(spec: &RunSpec, ends: Ends) -> Result<Vec<PeerReport>, Failure> {
    let peers = u32::try_from(ends.peers.len()).unwrap_or(u32::MAX);
    let connections = Connections::new_shared(spec.connections(), peers, &PeerMemory::Inherited)
        .map_err(|errno| harness_failure(FailureKind::SetUp, "mmap", errno))?;
    match spec.mode {
        Mode::OneThread => Ok(vec![run_one_thread(spec, ends, &connections)?]),
        Mode::TwoThreads => threads::run(spec, ends, &connections),
        Mode::TwoProcesses => processes::run(spec, ends, &connections),
        // Its peers inherit nothing.
        Mode::TwoPrograms => Err(peer_results::missing_end()),
    }
}

fn run_one_thread(
    spec: &RunSpec,
    ends: Ends,
    connections: &Connections,
) -> Result<PeerReport, Failure> {
    let (helper, placement) = (ends.helper, PeerPlacement::OneCpu);
    let peer = ends.peers.into_iter().next().ok_or_else(peer_results::missing_end)?;
    let role = peer.role;
    PeerRunner { spec, peer, connections, placement, helper }
        .run()
        .map_err(|failure| failure.with_role(role))
}

/// Combines the reports of the peers.
fn combine(reports: PeerReports, spec: &RunSpec) -> Result<Measurement, Failure> {
    let PeerReports { mut reports, granted, is_lossy } = reports;
    let mut roles = usage_by_role(&reports);
    roles.extend(reports.iter_mut().filter_map(|peer| peer.broker.take()));
    let round_trips = round_trips(&reports)?;
    let counter_readings =
        reports.iter_mut().map(|peer| std::mem::take(&mut peer.counter_readings)).collect();
    let objects = reports.iter_mut().flat_map(|peer| std::mem::take(&mut peer.objects)).collect();
    let repeats = reports.iter_mut().map(|peer| std::mem::take(&mut peer.repeats)).collect();
    let paced: Vec<PacedReport> =
        reports.iter_mut().flat_map(|peer| std::mem::take(&mut peer.paced)).collect();
    let peers = spec.peers.as_ref().map_or_else(Vec::new, |_| peers(&reports, &paced));
    let paced = paced_report::combine(paced)?;
    // The receivers would count the same messages again.
    let senders = || reports.iter().filter(|peer| peer.usage.role != Role::Receiver);
    let sent: u64 = senders().map(|peer| peer.messages).sum();
    let total_bytes: u64 = senders().map(|peer| peer.total_bytes).sum();
    let counted_bytes: u64 = reports.iter().map(|peer| peer.arrived_bytes).sum();
    let first = reports.swap_remove(0);
    // A mechanism that moves nothing lets the receiver of a paced run finish before the sender.
    let lost = sent.saturating_sub(first.arrived);
    let arrived_bytes = match spec.message_options.sizes {
        Some(_) if is_lossy && !spec.workload.is_answered() => counted_bytes,
        _ => total_bytes.saturating_sub(lost * spec.mean_bytes()),
    };
    Ok(Measurement {
        began_ns: first.began_ns,
        elapsed_ns: first.elapsed_ns,
        total_bytes,
        messages: first.arrived,
        arrived_bytes,
        lost_messages: is_lossy.then_some(lost),
        calibration_phases: first.calibration_phases,
        slices_ns: first.slices_ns,
        kernel_thread_ns: first.kernel_thread_ns,
        round_trips,
        paced,
        kernel_buffer_granted_bytes: granted.kernel_buffer_bytes,
        cacheline_round_trip_ns: first.cacheline_round_trip_ns,
        steal_ns: None,
        roles,
        peers,
        objects,
        counter_readings,
        repeats: phases::combine(repeats),
    })
}

/// Returns what is stored of each peer of a workload with several, with the latencies of its connection.
fn peers(reports: &[PeerReport], paced: &[PacedReport]) -> Vec<PeerMeasurement> {
    let measurement = |peer: &PeerReport| PeerMeasurement {
        latencies: match peer.connections {
            1 => paced_report::latencies_of(paced, peer.peer),
            _ => None,
        },
        ..peer.measurement()
    };
    reports.iter().map(measurement).collect()
}

/// Usage of each role: the sum over its peers, the sender's first.
fn usage_by_role(reports: &[PeerReport]) -> Vec<RoleUsage> {
    let mut roles: Vec<RoleUsage> = Vec::new();
    for usage in reports.iter().map(|peer| &peer.usage) {
        match roles.iter_mut().find(|role| role.role == usage.role) {
            Some(role) => *role = role.clone().plus(usage),
            None => roles.push(usage.clone()),
        }
    }
    roles
}

/// Round trips of all peers that began some.
fn round_trips(reports: &[PeerReport]) -> Result<Option<RoundTrips>, Failure> {
    let trips = |peer: &'_ PeerReport| Some((peer.round_trips.clone()?, peer.own_messages));
    let all: Vec<(RoundTrips, u64)> = reports.iter().filter_map(trips).collect();
    merge(&all.iter().map(|(trips, made)| (trips, *made)).collect::<Vec<_>>())
}
