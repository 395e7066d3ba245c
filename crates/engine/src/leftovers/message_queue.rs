//! Names of POSIX message queues.

use std::ffi::CString;
use std::os::fd::{FromRawFd, OwnedFd};

use rustix::fs::fstat;
use rustix::io::Errno;
use rustix::process::geteuid;

use super::RunNames;
use super::system_v::outcome;

/// Direction of a queue. There is one queue for each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the sender to the receiver.
    There,
    /// From the receiver to the sender.
    Back,
}

/// Name under which a queue is opened.
pub(crate) fn name(names: &RunNames, direction: Direction) -> CString {
    let direction = match direction {
        Direction::There => "there",
        Direction::Back => "back",
    };
    // A token contains no NUL byte.
    CString::new(format!("/{}-{direction}", names.base())).unwrap_or_default()
}

/// Existing queues of the run that belong to this user.
pub(super) fn present(names: &RunNames) -> Vec<CString> {
    let all = [Direction::There, Direction::Back].map(|direction| name(names, direction));
    all.into_iter().filter(is_own).collect()
}

fn is_own(name: &CString) -> bool {
    let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_CLOEXEC;
    // SAFETY: the name is NUL-terminated; without O_CREAT nothing is created.
    let Ok(queue) = outcome(unsafe { libc::mq_open(name.as_ptr(), flags) }) else { return false };
    // SAFETY: the descriptor was just opened and is closed once.
    let queue = unsafe { OwnedFd::from_raw_fd(queue) };
    fstat(queue).is_ok_and(|status| status.st_uid == geteuid().as_raw())
}

pub(super) fn remove(name: &CString) -> Result<(), Errno> {
    // SAFETY: the name is NUL-terminated.
    outcome(unsafe { libc::mq_unlink(name.as_ptr()) }).map(drop)
}
