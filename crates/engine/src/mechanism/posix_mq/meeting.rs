//! Queues of two programs: one creates both and passes their descriptors to the other one.

use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::{Failure, Role};
use rustix::io::Errno;

use super::endpoint::{PosixMq, PosixMqEnd, Queues, create_queues, granted};
use crate::channel::{Creator, Granted, Meet, Meeting, Setup};
use crate::leftovers::run_names;
use crate::mechanism::meeting_fds;
use crate::mechanism::setup_failure::setup_failure;
use crate::platform::message_queue::MessageQueue;

/// Name of the socket at the meeting.
const SOCKET: &str = "queues";

impl Meet for PosixMq {
    /// A queue whose creator is killed before it has removed the name can be removed by its user only. So a peer of the
    /// command's user creates the queues, if there is one.
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure> {
        let queues = match (meeting.users()?.creator(meeting.role()), meeting.role()) {
            (Creator::ThisPeer, _) | (Creator::Neither, Role::Receiver) => pass(setup, meeting)?,
            _ => receive(meeting)?,
        };
        let Queues { there, back, messages } = queues;
        let end = match meeting.role() {
            Role::Receiver => PosixMqEnd::new(setup, back, there),
            _ => PosixMqEnd::new(setup, there, back),
        };
        Ok((end, granted(setup, messages)))
    }
}

/// Creates the queues and passes them.
fn pass(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<Queues, Failure> {
    let names = run_names()?;
    // The peers of another connection use the same names, for a moment.
    let is_taken = |errno| errno == Errno::EXIST;
    let mut failed = None;
    let create = || {
        create_queues(setup, &names).map_err(|failure| {
            let errno = failure.errno.map_or(Errno::IO, Errno::from_raw_os_error);
            failed = Some(failure);
            errno
        })
    };
    let created = meeting.retry("creating the queues", is_taken, create);
    let queues = created.map_err(|late| failed.unwrap_or(late))?;
    meeting_fds::pass(SOCKET, meeting, 0, &[queues.there.as_fd(), queues.back.as_fd()])?;
    Ok(queues)
}

/// Receives the queues.
fn receive(meeting: &Meeting<'_>) -> Result<Queues, Failure> {
    let (_, fds) = meeting_fds::receive(SOCKET, meeting)?;
    let [there, back] = <[OwnedFd; 2]>::try_from(fds)
        .map_err(|_| setup_failure("recvmsg", Errno::BADMSG))?
        .map(MessageQueue::from_descriptor);
    let messages = there.capacity().map_err(|e| setup_failure("mq_getattr", e))?;
    Ok(Queues { there, back, messages })
}
