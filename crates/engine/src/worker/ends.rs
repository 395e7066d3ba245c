//! The ends of an open mechanism, distributed to the peers that use them.

use ipcperf_model::mechanism::Helper;
use ipcperf_model::message_options::FirstTouch;
use ipcperf_model::workload::Arrangement;
use ipcperf_model::{Failure, FailureKind, Mode, Role, RunSpec};

use super::message_memory::MessageMemory;
use super::peer_ends::{HubEnds, PeerEnds, TypedEnds};
use super::running_peer::RunningPeer;
use crate::channel::{Channel, Endpoint, Granted, Opened, Setup};
use crate::harness_failure;
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
        share_times(spec, &mut peers)?;
        if spec.message_options.first_touch == FirstTouch::BeforeFork {
            for peer in &mut peers {
                let buffers = peer.ends.send_buffers_needed();
                peer.memory = Some(MessageMemory::new(spec, peer.role, buffers)?);
            }
        }
        Ok(Self { peers, granted, helper })
    }
}

/// Gives each peer the ends of its connections.
fn distribute<E: Endpoint>(spec: &RunSpec, senders: Vec<E>, receivers: Vec<E>) -> Vec<RunningPeer> {
    if spec.mode == Mode::OneThread {
        let both = senders.into_iter().zip(receivers);
        return both.map(|(end, other)| one_peer(Role::Both, 0, end, Some(other))).collect();
    }
    // A side with one connection runs the loops of two peers, whatever the workload.
    let arrangement = match spec.connections() {
        1 => Arrangement::OnePair,
        _ => spec.workload.facts().arrangement,
    };
    let [mut senders, receivers] =
        [(Role::Sender, senders), (Role::Receiver, receivers)].map(|(role, ends)| {
            match (arrangement, role) {
                (Arrangement::OneToMany, Role::Sender)
                | (Arrangement::ManyToOne, Role::Receiver) => {
                    vec![hub(role, ends)]
                }
                _ => {
                    (0..).zip(ends).map(|(number, end)| one_peer(role, number, end, None)).collect()
                }
            }
        });
    senders.extend(receivers);
    senders
}

fn one_peer<E: Endpoint>(role: Role, connection: usize, end: E, other: Option<E>) -> RunningPeer {
    let ends: Box<dyn PeerEnds> = Box::new(TypedEnds { end, other });
    RunningPeer {
        role,
        connections: connection..connection + 1,
        ends,
        memory: None,
        times: Vec::new(),
    }
}

fn hub<E: Endpoint>(role: Role, ends: Vec<E>) -> RunningPeer {
    let connections = 0..ends.len();
    let ends: Box<dyn PeerEnds> = Box::new(HubEnds::new(ends));
    RunningPeer { role, connections, ends, memory: None, times: Vec::new() }
}

/// Provides the places of the stamps of a paced run, which the two peers of a connection share. Connections with one sender
/// share theirs.
fn share_times(spec: &RunSpec, peers: &mut [RunningPeer]) -> Result<(), Failure> {
    let new_place = || {
        SendTimes::new_shared(spec)
            .map_err(|errno| harness_failure(FailureKind::SetUp, "mmap", errno))
    };
    let count = spec.connections();
    let places = match spec.workload.facts().arrangement {
        Arrangement::OneToMany => vec![new_place()?; count],
        _ => (0..count).map(|_| new_place()).collect::<Result<_, _>>()?,
    };
    for peer in peers {
        peer.times = places[peer.connections.clone()].to_vec();
    }
    Ok(())
}
