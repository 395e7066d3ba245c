//! Names of POSIX message queues.

use std::ffi::CString;

use rustix::io::Errno;
use rustix::process::geteuid;

use super::RunNames;
use crate::platform::message_queue::{owner, unlink};

/// Direction of a queue. There is one queue for each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueDirection {
    /// From the sender to the receiver.
    Forward,
    /// From the receiver to the sender.
    Reverse,
}

/// Name under which a queue is opened.
pub(crate) fn queue_name(names: &RunNames, direction: QueueDirection) -> CString {
    let direction = match direction {
        QueueDirection::Forward => "there",
        QueueDirection::Reverse => "back",
    };
    // A token contains no NUL byte.
    CString::new(format!("/{}-{direction}", names.prefix())).unwrap_or_default()
}

/// Existing queues of the run that belong to this user.
pub(super) fn existing(names: &RunNames) -> Vec<CString> {
    let all = [QueueDirection::Forward, QueueDirection::Reverse]
        .map(|direction| queue_name(names, direction));
    all.into_iter().filter(is_owned).collect()
}

fn is_owned(name: &CString) -> bool {
    owner(name) == Some(geteuid().as_raw())
}

pub(super) fn remove(name: &CString) -> Result<(), Errno> {
    unlink(name)
}
