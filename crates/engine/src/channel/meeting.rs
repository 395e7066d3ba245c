//! Meeting of two programs that were started separately: by names in a folder, and by a secret.
//!
//! The worker makes the folder and passes its path and the secret of the run to each program; nothing is inherited. The
//! receiver creates what has a name, as a server does, and the sender looks for it until it is there.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ipcperf_model::{Failure, FailureKind, Role};
use rustix::fs::{Mode, chmod, stat};
use rustix::io::Errno;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use super::{Channel, Granted, Setup};
use crate::leftovers::{RunToken, path_text};
use crate::namespaces::Namespaces;

/// Maximum time that a peer waits for the other one, which may be slow to start. It is shorter than the default timeout of a
/// run, so that the failure names what was not found.
const TIMEOUT: Duration = Duration::from_secs(8);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(1);
/// Maximum length of what a peer publishes, bytes.
const MAX_PUBLISHED_BYTES: usize = 64;

/// A mechanism whose two ends can be opened by separate programs.
pub trait Meet: Channel {
    /// Opens the end of the role of `meeting`, connected to the other one, in the calling process.
    ///
    /// # Errors
    /// Returns [`FailureKind::Unreachable`] if the other end is not found, and [`FailureKind::SetUp`] with another call that
    /// failed.
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure>;
}

/// Users whose programs meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Visitors {
    /// The user of the command: names are accessible to this user only.
    SameUser,
    /// Possibly other users: names are accessible to every user who knows them.
    AnyUser,
}

impl Visitors {
    /// Permissions of files and sockets.
    #[must_use]
    pub fn file_mode(self) -> Mode {
        match self {
            Self::SameUser => Mode::RUSR | Mode::WUSR,
            Self::AnyUser => Mode::from_raw_mode(0o666),
        }
    }
}

/// Where the programs of a run meet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeetingPlace {
    /// Folder for names; its path cannot be guessed.
    #[serde(with = "path_text::one")]
    pub folder: PathBuf,
    /// Folder for sockets, another one where users differ: the system shows every user the paths of sockets
    /// (`/proc/net/unix`).
    #[serde(with = "path_text::one")]
    pub sockets: PathBuf,
    /// Secret by which the programs recognize each other.
    pub secret: RunToken,
    /// Users whose programs meet.
    pub visitors: Visitors,
    /// Namespaces of the worker.
    pub namespaces: Namespaces,
}

impl MeetingPlace {
    /// Path of the file with the memory that all peers share.
    #[must_use]
    pub fn memory_path(&self) -> PathBuf {
        self.folder.join("memory")
    }
}

/// A peer of a run with two sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its role.
    pub role: Role,
    /// Numbers of its connections.
    pub connections: Range<usize>,
}

/// The peer that a program runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProgramPart {
    /// The peer.
    pub part: Part,
    /// Where it meets the others.
    pub place: MeetingPlace,
}

/// Users of the two peers of one connection, and of the command, as the system shows them to the calling peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerUsers {
    /// User of the calling peer.
    pub own: u32,
    /// User of the other peer.
    pub other: u32,
    /// User of the command, which removes what killed peers leave behind, if it is this user's.
    pub command: u32,
}

/// Peer that creates an object which a killed peer would leave behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creator {
    /// The calling peer.
    ThisPeer,
    /// The other peer.
    OtherPeer,
    /// None: the command could not remove what either of them leaves.
    Neither,
}

impl PeerUsers {
    /// Returns which peer creates such an object: one of the command's user, the receiver if both are. `role` is that of the
    /// calling peer.
    #[must_use]
    pub fn creator(self, role: Role) -> Creator {
        match (self.own == self.command, self.other == self.command) {
            (false, false) => Creator::Neither,
            (true, true) if role != Role::Receiver => Creator::OtherPeer,
            (true, _) => Creator::ThisPeer,
            (false, true) => Creator::OtherPeer,
        }
    }
}

/// Meeting of the two peers of one connection, as one of them sees it.
#[derive(Clone, Copy, Debug)]
pub struct Meeting<'a> {
    place: &'a MeetingPlace,
    role: Role,
    connection: usize,
    end: Instant,
}

impl<'a> Meeting<'a> {
    /// Begins the meeting of `role` over `connection`.
    #[must_use]
    pub fn new(place: &'a MeetingPlace, role: Role, connection: usize) -> Self {
        Self { place, role, connection, end: Instant::now() + TIMEOUT }
    }

    /// Role of the calling peer.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Users whose programs meet.
    #[must_use]
    pub fn visitors(&self) -> Visitors {
        self.place.visitors
    }

    /// Finds out the users of both peers. Where they may differ, each peer shows its own by a file in the folder.
    ///
    /// # Errors
    /// Returns [`FailureKind::Unreachable`] if the other peer does not show its user, and [`FailureKind::SetUp`] if a file
    /// cannot be written or examined.
    pub fn users(&self) -> Result<PeerUsers, Failure> {
        let own = geteuid().as_raw();
        if self.place.visitors == Visitors::SameUser {
            return Ok(PeerUsers { own, other: own, command: own });
        }
        let [shows, looks] = match self.role {
            Role::Receiver => ["receiver-user", "sender-user"],
            _ => ["sender-user", "receiver-user"],
        };
        self.publish(shows, "")?;
        self.published(looks)?;
        let other = owner(&self.path(looks))?;
        Ok(PeerUsers { own, other, command: owner(&self.place.folder)? })
    }

    /// Secret that both peers know.
    #[must_use]
    pub fn secret(&self) -> String {
        self.place.secret.to_string()
    }

    /// Time that is left.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Path of `name` for this connection.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.place.folder.join(format!("{name}-{}", self.connection))
    }

    /// Path of the socket `name` for this connection.
    #[must_use]
    pub fn socket_path(&self, name: &str) -> PathBuf {
        self.place.sockets.join(format!("{name}-{}", self.connection))
    }

    /// Repeats `call` until it succeeds, as long as it fails with an error for which `is_early` says that the other peer may
    /// not be there yet.
    ///
    /// # Errors
    /// Returns [`FailureKind::Unreachable`] with the last error and `what` was tried.
    pub fn retry<T>(
        &self,
        what: &str,
        is_early: fn(Errno) -> bool,
        mut call: impl FnMut() -> Result<T, Errno>,
    ) -> Result<T, Failure> {
        loop {
            match call() {
                Err(errno) if is_early(errno) && Instant::now() < self.end => sleep(PAUSE),
                Err(errno) => {
                    return Err(unreachable(format!("the {}, {what}", self.role.name()), errno));
                }
                Ok(done) => return Ok(done),
            }
        }
    }

    /// Makes `text` known to the other peer, under `name`.
    ///
    /// # Errors
    /// Returns [`FailureKind::SetUp`] if it cannot be written.
    pub fn publish(&self, name: &str, text: &str) -> Result<(), Failure> {
        self.create(name, |unfinished| fs::write(unfinished, text))
    }

    /// Creates the file `name` with `make`, which gets another path. The other peer finds the file once it is complete and
    /// accessible.
    ///
    /// # Errors
    /// Returns [`FailureKind::SetUp`] if it cannot be created.
    pub fn create(
        &self,
        name: &str,
        make: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let (path, unfinished) = (self.path(name), self.path(&format!("new-{name}")));
        let finish = || {
            chmod(&unfinished, self.place.visitors.file_mode())?;
            fs::rename(&unfinished, &path)
        };
        make(&unfinished).and_then(|()| finish()).map_err(|error| Failure {
            errno: error.raw_os_error(),
            ..Failure::new(FailureKind::SetUp, format!("creating {}", path.display()))
        })
    }

    /// Waits for what the other peer has published under `name`.
    ///
    /// # Errors
    /// Returns [`FailureKind::Unreachable`] if it is not found.
    pub fn published(&self, name: &str) -> Result<String, Failure> {
        let path = self.path(name);
        let is_absent = |errno| errno == Errno::NOENT;
        self.retry(&format!("reading {}", path.display()), is_absent, || read(&path))
    }
}

fn read(path: &Path) -> Result<String, Errno> {
    let text = fs::read(path).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    String::from_utf8(text)
        .ok()
        .filter(|text| text.len() <= MAX_PUBLISHED_BYTES)
        .ok_or(Errno::BADMSG)
}

fn owner(path: &Path) -> Result<u32, Failure> {
    stat(path).map(|status| status.st_uid).map_err(|errno| {
        let place = format!("examining {}", path.display());
        Failure::from_errno(FailureKind::SetUp, place, errno.raw_os_error())
    })
}

fn unreachable(place: String, errno: Errno) -> Failure {
    Failure::from_errno(FailureKind::Unreachable, place, errno.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_can_remove_what_the_creator_leaves() {
        use Creator::{Neither, OtherPeer, ThisPeer};

        for (own, other, of_sender, of_receiver) in [
            (0, 0, OtherPeer, ThisPeer),
            (0, 1000, ThisPeer, ThisPeer),
            (1000, 0, OtherPeer, OtherPeer),
            (1000, 1001, Neither, Neither),
        ] {
            let users = PeerUsers { own, other, command: 0 };
            assert_eq!(users.creator(Role::Sender), of_sender);
            assert_eq!(users.creator(Role::Receiver), of_receiver);
        }
    }
}
