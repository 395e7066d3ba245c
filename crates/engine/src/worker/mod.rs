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
mod message_memory;
pub(crate) mod objects;
mod paced_report;
mod peer;
mod peer_ends;
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
use message_memory::MessageMemory;
use peer::{PeerReport, PeerRunner};
use peer_ends::{PeerEnds, TypedEnds};
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
use crate::workload::SendTimes;

/// Carries out one run of mechanism `M`. Only the opening and the loops of the timed region depend on its type.
pub(crate) fn execute<M: Channel>(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    let opened =
        M::open(&Setup::new(spec)).and_then(|opened| Ends::new(spec, mechanism.helper, opened));
    match opened.and_then(|ends| measure(spec, ends)) {
        Ok(measurement) => WorkerReport::Measured(Box::new(measurement)),
        Err(failure) => WorkerReport::Failed(failure),
    }
}

fn measure(spec: &RunSpec, ends: Ends) -> Result<Measurement, Failure> {
    let control = Control::new_shared()
        .map_err(|errno| harness_failure(FailureKind::SetUp, "mmap", errno))?;
    let cpus = spec.cpus.map_or(Vec::new(), |[sender, receiver]| {
        if sender == receiver { vec![sender] } else { vec![sender, receiver] }
    });
    let steal_before_ns = steal_ns(&cpus);
    let (granted, is_lossy) = (ends.granted, ends.first.is_lossy());
    let reports = match spec.mode {
        Mode::OneThread => vec![run_one_thread(spec, ends, control)?],
        Mode::TwoThreads => threads::run(spec, ends, control)?,
        Mode::TwoProcesses => processes::run(spec, ends, control)?,
    };
    let steal_ns =
        steal_before_ns.zip(steal_ns(&cpus)).map(|(before, after)| after.saturating_sub(before));
    Ok(Measurement { steal_ns, ..combine(reports, granted, is_lossy, spec) })
}

/// The ends of an open mechanism, and the message memory if it is touched before the fork.
struct Ends {
    /// Ends of the peer that sends, or of the only one.
    first: Box<dyn PeerEnds>,
    /// End of the peer that receives, if there are two.
    second: Option<Box<dyn PeerEnds>>,
    /// Message memory of the peers.
    memory: [Option<MessageMemory>; 2],
    /// Place of the stamps of a paced run.
    times: SendTimes,
    /// Sizes that the kernel granted.
    granted: Granted,
    /// Participant other than the peers that does part of the work.
    helper: Helper,
}

impl Ends {
    fn new<E: Endpoint>(
        spec: &RunSpec,
        helper: Helper,
        opened: Opened<E>,
    ) -> Result<Self, Failure> {
        let Opened { sender, receiver, granted } = opened;
        let (first, second): (Box<dyn PeerEnds>, Option<Box<dyn PeerEnds>>) = match spec.mode {
            Mode::OneThread => (Box::new(TypedEnds { end: sender, other: Some(receiver) }), None),
            Mode::TwoThreads | Mode::TwoProcesses => (
                Box::new(TypedEnds { end: sender, other: None }),
                Some(Box::new(TypedEnds { end: receiver, other: None })),
            ),
        };
        let times = SendTimes::new_shared(spec)
            .map_err(|errno| harness_failure(FailureKind::SetUp, "mmap", errno))?;
        let mut ends = Self { first, second, memory: [None, None], times, granted, helper };
        if spec.message_options.first_touch == FirstTouch::BeforeFork {
            ends.touch_memory(spec)?;
        }
        Ok(ends)
    }

    fn touch_memory(&mut self, spec: &RunSpec) -> Result<(), Failure> {
        let role = if self.second.is_some() { Role::Sender } else { Role::Both };
        let peers =
            [Some((role, &self.first)), self.second.as_ref().map(|one| (Role::Receiver, one))];
        for (memory, peer) in self.memory.iter_mut().zip(peers) {
            *memory = peer
                .map(|(role, ends)| MessageMemory::new(spec, role, ends.send_buffers_needed()))
                .transpose()?;
        }
        Ok(())
    }
}

fn run_one_thread(spec: &RunSpec, opened: Ends, control: &Control) -> Result<PeerReport, Failure> {
    let Ends { first: ends, memory: [memory, _], times, helper, .. } = opened;
    let placement = PeerPlacement::OneCpu;
    let role = Role::Both;
    let peer = PeerRunner { spec, role, ends, memory, times, control, placement, helper };
    peer.run().map_err(|failure| failure.with_role(role))
}

/// Combines the reports of the peers (the sender's first). `is_lossy`: the mechanism may lose messages.
fn combine(
    mut reports: Vec<PeerReport>,
    granted: Granted,
    is_lossy: bool,
    spec: &RunSpec,
) -> Measurement {
    let mut roles: Vec<RoleUsage> = reports.iter().map(|peer| peer.usage.clone()).collect();
    roles.extend(reports.iter_mut().filter_map(|peer| peer.broker.take()));
    let counter_readings =
        reports.iter_mut().map(|peer| std::mem::take(&mut peer.counter_readings)).collect();
    let objects = reports.iter_mut().flat_map(|peer| std::mem::take(&mut peer.objects)).collect();
    let repeats = reports.iter_mut().map(|peer| std::mem::take(&mut peer.repeats)).collect();
    let paced = paced_report::combine(reports.iter_mut().filter_map(|peer| peer.paced.take()));
    let first = reports.swap_remove(0);
    // A mechanism that moves nothing lets the receiver of a paced run finish before the sender.
    let lost = first.messages.saturating_sub(first.arrived);
    Measurement {
        began_ns: first.began_ns,
        elapsed_ns: first.elapsed_ns,
        total_bytes: first.total_bytes,
        messages: first.arrived,
        arrived_bytes: first.total_bytes.saturating_sub(lost * spec.buffer_bytes),
        lost_messages: is_lossy.then_some(lost),
        calibration_phases: first.calibration_phases,
        slices_ns: first.slices_ns,
        kernel_thread_ns: first.kernel_thread_ns,
        round_trips: first.round_trips,
        paced,
        kernel_buffer_granted_bytes: granted.kernel_buffer_bytes,
        cacheline_round_trip_ns: first.cacheline_round_trip_ns,
        steal_ns: None,
        roles,
        objects,
        counter_readings,
        repeats: phases::combine(repeats),
    }
}
