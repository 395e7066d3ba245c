//! One run in a worker process.
//!
//! The worker opens the mechanism while it has one thread and then starts the peers: itself (one thread), two threads,
//! or two forked processes, which it only supervises. The peers meet at a barrier, touch their own buffers after the
//! fork, and report. Their reports are combined into one [`WorkerReport`], which [`serve`](crate::serve) prints.

pub(crate) mod calibration;
pub(crate) mod comm;
pub(crate) mod counter_fds;
pub(crate) mod gate;
mod helper_usage;
mod kernel_threads;
mod memory;
pub(crate) mod objects;
mod peer;
mod peer_results;
mod phases;
pub(crate) mod proc_pid;
mod processes;
mod split;
mod streams;
mod threads;
mod usage;

pub use calibration::MIN_RUN_NS;
pub use counter_fds::MAX_COUNTER_FDS;
pub use gate::{Participants, PeerId, PeerScope};
use memory::Memory;
use peer::{PeerReport, PeerRunner};
pub use split::user_system_split;
pub(crate) use streams::{output, save as keep_streams};
pub use usage::steal_ns;

use ipcperf_model::mechanism::Helper;
use ipcperf_model::message_options::FirstTouch;
use ipcperf_model::{
    Failure, FailureKind, Measurement, Mode, Role, RoleUsage, RunSpec, WorkerReport,
};

use crate::channel::{Channel, Endpoint, Granted, Mechanism, Opened, PeerPlacement, Setup};
use crate::harness_failure;
use crate::shared_state::Control;

/// Carries out one run of mechanism `M`. From here on everything is generic over its ends; the types of workload and
/// payload are chosen at the start of each phase.
pub(crate) fn execute<M: Channel>(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    let measured =
        M::open(&Setup::new(spec)).and_then(|opened| measure(spec, mechanism.helper, opened));
    match measured {
        Ok(measurement) => WorkerReport::Measured(Box::new(measurement)),
        Err(failure) => WorkerReport::Failed(failure),
    }
}

fn measure<E: Endpoint>(
    spec: &RunSpec,
    helper: Helper,
    opened: Opened<E>,
) -> Result<Measurement, Failure> {
    let control = Control::new_shared()
        .map_err(|errno| harness_failure(FailureKind::SetUp, "mmap", errno))?;
    let cpus = spec.cpus.map_or(Vec::new(), |[sender, receiver]| {
        if sender == receiver { vec![sender] } else { vec![sender, receiver] }
    });
    let steal_before_ns = steal_ns(&cpus);
    let granted = opened.granted;
    let opened = Ends::new(spec, helper, opened)?;
    let reports = match spec.mode {
        Mode::OneThread => vec![run_one_thread(spec, opened, control)?],
        Mode::TwoThreads => threads::run(spec, opened, control)?,
        Mode::TwoProcesses => processes::run(spec, opened, control)?,
    };
    let steal_ns =
        steal_before_ns.zip(steal_ns(&cpus)).map(|(before, after)| after.saturating_sub(before));
    Ok(Measurement { steal_ns, ..combine::<E>(reports, granted, spec) })
}

/// The two ends, and the message memory if it is touched before the fork.
struct Ends<E> {
    sender: E,
    receiver: E,
    /// Memory of the sender and of the receiver.
    memory: [Option<Memory>; 2],
    /// Participant other than the peers that does part of the work.
    helper: Helper,
}

impl<E: Endpoint> Ends<E> {
    fn new(spec: &RunSpec, helper: Helper, opened: Opened<E>) -> Result<Self, Failure> {
        let Opened { sender, receiver, .. } = opened;
        let roles = match spec.mode {
            Mode::OneThread => [Role::Both, Role::Receiver],
            Mode::TwoThreads | Mode::TwoProcesses => [Role::Sender, Role::Receiver],
        };
        let memory = match spec.message_options.first_touch {
            FirstTouch::AfterFork | FirstTouch::Timed => [None, None],
            FirstTouch::BeforeFork => [
                Some(Memory::new(spec, roles[0], sender.send_buffers_needed())?),
                Some(Memory::new(spec, roles[1], receiver.send_buffers_needed())?),
            ],
        };
        Ok(Self { sender, receiver, memory, helper })
    }
}

fn run_one_thread<E: Endpoint>(
    spec: &RunSpec,
    opened: Ends<E>,
    control: &Control,
) -> Result<PeerReport, Failure> {
    let Ends { sender, receiver, memory: [memory, _], helper } = opened;
    let party = PeerRunner {
        spec,
        role: Role::Both,
        end: sender,
        other: Some(receiver),
        memory,
        control,
        placement: PeerPlacement::OneCpu,
        helper,
    };
    party.run().map_err(|failure| failure.with_role(Role::Both))
}

/// Combines the reports of the peers (the sender's first).
fn combine<E: Endpoint>(
    mut reports: Vec<PeerReport>,
    granted: Granted,
    spec: &RunSpec,
) -> Measurement {
    let mut roles: Vec<RoleUsage> = reports.iter().map(|party| party.usage.clone()).collect();
    roles.extend(reports.iter_mut().filter_map(|party| party.broker.take()));
    let dials =
        reports.iter_mut().map(|party| std::mem::take(&mut party.counter_readings)).collect();
    let objects = reports.iter_mut().flat_map(|party| std::mem::take(&mut party.objects)).collect();
    let repeats = reports.iter_mut().map(|party| std::mem::take(&mut party.repeats)).collect();
    let first = reports.swap_remove(0);
    let lost = first.messages - first.arrived;
    Measurement {
        began_ns: first.began_ns,
        elapsed_ns: first.elapsed_ns,
        total_bytes: first.total_bytes,
        messages: first.arrived,
        arrived_bytes: first.total_bytes.saturating_sub(lost * spec.buffer_bytes),
        lost_messages: E::LOSSY.then_some(lost),
        calibration_phases: first.calibration_phases,
        slices_ns: first.slices_ns,
        kernel_thread_ns: first.kernel_thread_ns,
        round_trips: first.round_trips,
        kernel_buffer_granted_bytes: granted.kernel_buffer_bytes,
        cacheline_round_trip_ns: first.cacheline_round_trip_ns,
        steal_ns: None,
        roles,
        objects,
        counter_readings: dials,
        repeats: phases::combine(repeats),
    }
}
