//! The gate: where the peers of an instrumented run wait, fully set up, until the process that started the worker has
//! seen their process and thread IDs and opens it.
//!
//! One peer writes a line of JSON, a [`Participants`], to the worker's output. Then each peer, the sender first, reads
//! an empty line from its input, a socket. The descriptors that the peer is to read are passed with that line (see
//! `streams` for both). An uninstrumented run has no gate.

use std::os::fd::BorrowedFd;

use ipcperf_model::{Failure, FailureKind, Mode, Role, RunSpec};
use rustix::io::{Errno, retry_on_intr, write};
use serde::{Deserialize, Serialize};

use super::counter_fds::CounterFds;
use super::streams;
use crate::shared_state::{Control, ThreadIds};

/// End of each line that passes the gate.
const END: u8 = b'\n';

/// The process and thread that run a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerId {
    /// Role of the peer.
    pub role: Role,
    /// Process ID.
    pub pid: u32,
    /// ID of the thread that runs it.
    pub tid: u32,
    /// Whether other threads of the process work for the role too.
    pub scope: PeerScope,
}

/// Part of a process that belongs to a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeerScope {
    /// One thread.
    Thread,
    /// Every thread.
    Process,
}

/// Peers that wait at the gate, and their broker, if there is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Participants {
    /// One entry per peer and broker.
    pub peers: Vec<PeerId>,
}

/// Writes the list of participants to the worker's output. Called by one of the peers once all have entered their IDs.
///
/// # Errors
/// Returns [`FailureKind::Worker`] if the output is closed.
pub(crate) fn announce(gathering: &Participants) -> Result<(), Failure> {
    let mut line = serde_json::to_vec(gathering).unwrap_or_default();
    line.push(END);
    write_all(streams::output(), &line).map_err(failed)
}

/// Waits until the gate is opened for the calling peer, and returns its counter descriptors.
///
/// # Errors
/// Returns [`FailureKind::Worker`] if the other end is closed.
pub(crate) fn wait() -> Result<CounterFds, Failure> {
    receive_counter_fds(streams::input()).map_err(failed)
}

fn failed(errno: Errno) -> Failure {
    Failure::from_errno(FailureKind::Worker, "waiting at the gate", errno.raw_os_error())
}

fn peer_id(place: &ThreadIds, role: Role, scope: PeerScope) -> PeerId {
    let (pid, tid) = place.load();
    PeerId { role, pid, tid, scope }
}

/// Collects the peers that have entered their IDs, and their broker.
pub(super) fn participants(spec: &RunSpec, control: &Control, broker: Option<u32>) -> Participants {
    let scope = match spec.mode {
        // The threads that a library starts in the shared process cannot be attributed to one role.
        Mode::TwoThreads => PeerScope::Thread,
        Mode::OneThread | Mode::TwoProcesses | Mode::TwoPrograms => PeerScope::Process,
    };
    let roles: &[Role] = match spec.mode {
        Mode::OneThread => &[Role::Both],
        Mode::TwoThreads | Mode::TwoProcesses | Mode::TwoPrograms => {
            &[Role::Sender, Role::Receiver]
        }
    };
    let peers = roles.iter().map(|&role| peer_id(control.thread_ids(role), role, scope));
    let broker =
        broker.map(|pid| PeerId { role: Role::Broker, pid, tid: pid, scope: PeerScope::Process });
    Participants { peers: peers.chain(broker).collect() }
}

fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let written = retry_on_intr(|| write(to, bytes))?;
        bytes = &bytes[written..];
    }
    Ok(())
}

/// Reads a single byte: the next one is for the other peer.
fn receive_counter_fds(from: BorrowedFd<'_>) -> Result<CounterFds, Errno> {
    match CounterFds::receive(from)? {
        (counter_fds, END) => Ok(counter_fds),
        _ => Err(Errno::PROTO),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::peer_memory::PeerMemory;
    use crate::testing::spec;

    #[test]
    fn every_participant_is_listed_once() {
        let control = Control::new_shared(&PeerMemory::Inherited).unwrap();
        control.thread_ids(Role::Sender).record();
        control.thread_ids(Role::Receiver).record();
        let announced = participants(&spec("pipe", [0, 0]), control, Some(7));
        let roles: Vec<Role> = announced.peers.iter().map(|peer| peer.role).collect();
        assert_eq!(roles, [Role::Sender, Role::Receiver, Role::Broker]);
        assert_eq!(announced.peers[0].pid, std::process::id());
        assert_ne!(announced.peers[1].tid, 0);
        let text = serde_json::to_string(&announced).unwrap();
        assert_eq!(serde_json::from_str::<Participants>(&text).unwrap(), announced);
    }

    #[test]
    fn a_gate_that_is_never_opened_is_an_error() {
        let (inlet, outlet) = UnixStream::pair().unwrap();
        write_all(outlet.as_fd(), b"\n\nmore").unwrap();
        drop(outlet);
        for _ in ["sender", "receiver"] {
            assert!(receive_counter_fds(inlet.as_fd()).is_ok());
        }
        assert_eq!(
            receive_counter_fds(inlet.as_fd()).unwrap_err(),
            Errno::PROTO,
            "what follows is no line"
        );
        while receive_counter_fds(inlet.as_fd()).unwrap_err() == Errno::PROTO {}
        assert_eq!(receive_counter_fds(inlet.as_fd()).unwrap_err(), Errno::PIPE);
    }
}
