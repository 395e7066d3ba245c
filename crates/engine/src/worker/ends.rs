//! The ends of an open mechanism, distributed to the peers that use them.

use ipcperf_model::mechanism::Helper;
use ipcperf_model::message_options::FirstTouch;
use ipcperf_model::workload::Arrangement;
use ipcperf_model::{Failure, FailureKind, Mode, Role, RunSpec};

use super::message_memory::MessageMemory;
use super::peer_ends::{HubEnds, PeerEnds, TypedEnds};
use super::running_peer::RunningPeer;
use crate::channel::{Channel, Endpoint, Granted, Opened, Part, Setup};
use crate::harness_failure;
use crate::peer_memory::PeerMemory;
use crate::workload::SendTimes;

/// The peers of a run with their ends.
pub(super) struct Ends {
    /// Senders first.
    pub(super) peers: Vec<RunningPeer>,
    /// Sizes that the kernel granted.
    pub(super) granted: Granted,
    /// Participant other than the peers that does part of the work.
    pub(super) helper: Helper,
}

impl Ends {
    /// Opens the mechanism once for each connection, and touches the message memory if that comes before the fork.
    pub(super) fn open<M: Channel>(spec: &RunSpec, helper: Helper) -> Result<Self, Failure> {
        let (mut senders, mut receivers, mut granted) =
            (Vec::new(), Vec::new(), Granted::default());
        for connection in 0..spec.connections() {
            let setup = Setup { cpus: spec.connection_cpus(connection), ..Setup::new(spec) };
            let opened: Opened<M::End> = M::open(&setup)?;
            granted = opened.granted;
            senders.push(opened.sender);
            receivers.push(opened.receiver);
        }
        let mut peers = distribute(spec, senders, receivers);
        let times = send_times(spec, &PeerMemory::Inherited)?;
        for peer in &mut peers {
            peer.times = times[peer.connections.clone()].to_vec();
        }
        if spec.message_options.first_touch == FirstTouch::BeforeFork {
            for peer in &mut peers {
                let buffers = peer.ends.send_buffers_needed();
                peer.memory = Some(MessageMemory::new(spec, peer.role, buffers)?);
            }
        }
        Ok(Self { peers, granted, helper })
    }
}

/// The peers of `spec`, the senders first. A side with one connection runs the loops of two peers, whatever the workload.
pub(super) fn parts(spec: &RunSpec) -> Vec<Part> {
    let count = spec.connections();
    let arrangement = match count {
        1 => Arrangement::OnePair,
        _ => spec.workload.facts().arrangement,
    };
    let of_role = |role| match (arrangement, role) {
        (Arrangement::OneToMany, Role::Sender) | (Arrangement::ManyToOne, Role::Receiver) => {
            vec![Part { role, connections: 0..count }]
        }
        _ => (0..count).map(|number| Part { role, connections: number..number + 1 }).collect(),
    };
    [Role::Sender, Role::Receiver].into_iter().flat_map(of_role).collect()
}

/// Gives each peer the ends of its connections.
fn distribute<E: Endpoint>(spec: &RunSpec, senders: Vec<E>, receivers: Vec<E>) -> Vec<RunningPeer> {
    if spec.mode == Mode::OneThread {
        let both = senders.into_iter().zip(receivers);
        let both = both.map(|(end, other)| TypedEnds { end, other: Some(other) });
        let alone = Part { role: Role::Both, connections: 0..1 };
        return both.map(|ends| running(alone.clone(), Box::new(ends))).collect();
    }
    let (mut senders, mut receivers) = (senders.into_iter(), receivers.into_iter());
    let with_own = |part: Part| {
        let ends = if part.role == Role::Sender { &mut senders } else { &mut receivers };
        let own = ends.take(part.connections.len()).collect();
        with_ends(part, own)
    };
    parts(spec).into_iter().map(with_own).collect()
}

/// The peer `part` with the ends of its connections.
pub(super) fn with_ends<E: Endpoint>(part: Part, mut ends: Vec<E>) -> RunningPeer {
    match (ends.pop(), ends.is_empty()) {
        (Some(end), true) => running(part, Box::new(TypedEnds { end, other: None })),
        (last, _) => {
            ends.extend(last);
            running(part, Box::new(HubEnds::new(ends)))
        }
    }
}

fn running(part: Part, ends: Box<dyn PeerEnds>) -> RunningPeer {
    let Part { role, connections } = part;
    RunningPeer { role, connections, ends, memory: None, times: Vec::new() }
}

/// Provides the places of the stamps of a paced run, one for each connection, in the next parts of `memory`. Connections
/// with one sender share theirs.
pub(super) fn send_times(spec: &RunSpec, memory: &PeerMemory) -> Result<Vec<SendTimes>, Failure> {
    let new_place = || {
        SendTimes::new_shared(spec, memory)
            .map_err(|errno| harness_failure(FailureKind::SetUp, "mmap", errno))
    };
    let count = spec.connections();
    match spec.workload.facts().arrangement {
        Arrangement::OneToMany => Ok(vec![new_place()?; count]),
        _ => (0..count).map(|_| new_place()).collect(),
    }
}
