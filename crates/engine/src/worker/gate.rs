//! The gate: where the parties of a run that is watched wait, ready but for their first phase, until
//! whoever started the worker has seen who they are and opens it.
//!
//! One of them writes a line of JSON, a [`Gathering`], to the worker's output. Then each, the sender first, reads an
//! empty line from its input, a socket, with which come the dials that it is to read (see `streams` for both).
//! A run that nobody watches has no gate.

use std::os::fd::BorrowedFd;

use ipcperf_model::{Failure, FailureKind, Mode, Role, RunSpec};
use rustix::io::{Errno, retry_on_intr, write};
use serde::{Deserialize, Serialize};

use super::counter_fds::Dials;
use super::streams;
use crate::shared_state::{Control, Place};

/// What ends each line that goes through the gate.
const END: u8 = b'\n';

/// Who plays a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// The role.
    pub role: Role,
    /// Its process.
    pub pid: u32,
    /// The thread that plays it.
    pub tid: u32,
    /// Whether other threads of the process work for the role too.
    pub extent: PlayerExtent,
}

/// What of a process belongs to a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlayerExtent {
    /// One thread.
    Thread,
    /// Every thread.
    Process,
}

/// Those who wait at the gate, and the broker that serves them, if there is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gathering {
    /// Each once.
    pub players: Vec<Player>,
}

/// Says who is there. Called by one of the parties, when all have taken their places.
///
/// # Errors
/// [`FailureKind::Worker`] where nobody listens.
pub(crate) fn tell(gathering: &Gathering) -> Result<(), Failure> {
    let mut line = serde_json::to_vec(gathering).unwrap_or_default();
    line.push(END);
    write_all(streams::output(), &line).map_err(failed)
}

/// Returns when the gate is opened for the calling party, with its dials.
///
/// # Errors
/// [`FailureKind::Worker`] where nobody is there to open it.
pub(crate) fn wait() -> Result<Dials, Failure> {
    opened(streams::input()).map_err(failed)
}

fn failed(errno: Errno) -> Failure {
    Failure::from_errno(FailureKind::Worker, "waiting at the gate", errno.raw_os_error())
}

fn player(place: &Place, role: Role, extent: PlayerExtent) -> Player {
    let (pid, tid) = place.ids();
    Player { role, pid, tid, extent }
}

/// Those who have taken their places, and their broker.
pub(crate) fn gathering(spec: &RunSpec, control: &Control, broker: Option<u32>) -> Gathering {
    let extent = match spec.mode {
        // Of a library's threads in the one process nobody could say for whom they work.
        Mode::TwoThreads => PlayerExtent::Thread,
        Mode::OneThread | Mode::TwoProcesses => PlayerExtent::Process,
    };
    let roles: &[Role] = match spec.mode {
        Mode::OneThread => &[Role::Both],
        Mode::TwoThreads | Mode::TwoProcesses => &[Role::Sender, Role::Receiver],
    };
    let parties = roles.iter().map(|&role| player(control.place(role), role, extent));
    let broker = broker.map(|pid| Player {
        role: Role::Broker,
        pid,
        tid: pid,
        extent: PlayerExtent::Process,
    });
    Gathering { players: parties.chain(broker).collect() }
}

fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let written = retry_on_intr(|| write(to, bytes))?;
        bytes = &bytes[written..];
    }
    Ok(())
}

/// One byte alone: what follows is for the other party.
fn opened(from: BorrowedFd<'_>) -> Result<Dials, Errno> {
    match Dials::receive(from)? {
        (dials, END) => Ok(dials),
        _ => Err(Errno::PROTO),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::spec::spec;

    #[test]
    fn those_at_the_gate_are_told_once_each() {
        let control = Control::shared().unwrap();
        control.place(Role::Sender).take();
        control.place(Role::Receiver).take();
        let told = gathering(&spec("pipe", [0, 0]), control, Some(7));
        let roles: Vec<Role> = told.players.iter().map(|player| player.role).collect();
        assert_eq!(roles, [Role::Sender, Role::Receiver, Role::Broker]);
        assert_eq!(told.players[0].pid, std::process::id());
        assert_ne!(told.players[1].tid, 0);
        let text = serde_json::to_string(&told).unwrap();
        assert_eq!(serde_json::from_str::<Gathering>(&text).unwrap(), told);
    }

    #[test]
    fn a_gate_that_nobody_opens_is_told() {
        let (inlet, outlet) = UnixStream::pair().unwrap();
        write_all(outlet.as_fd(), b"\n\nmore").unwrap();
        drop(outlet);
        for _ in ["sender", "receiver"] {
            assert!(opened(inlet.as_fd()).is_ok());
        }
        assert_eq!(opened(inlet.as_fd()).unwrap_err(), Errno::PROTO, "what follows is no line");
        while opened(inlet.as_fd()).unwrap_err() == Errno::PROTO {}
        assert_eq!(opened(inlet.as_fd()).unwrap_err(), Errno::PIPE);
    }
}
