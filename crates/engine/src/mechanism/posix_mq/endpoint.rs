//! Implementation of `posix-mq`.

use std::ffi::CStr;
use std::os::fd::AsFd;

use ipcperf_model::Failure;
use rustix::io::Errno;

use crate::buffer::Buffer;
use crate::channel::{
    Blocking, Channel, Descriptors, Endpoint, Granted, Limit, Mechanism, MeetFn, Opened, Setup,
};
use crate::leftovers::message_queue::{QueueDirection, queue_name};
use crate::leftovers::{RunNames, run_names};
use crate::mechanism::setup_failure::setup_failure;
use crate::mechanism::waiting::{self, AnyWait, TryTransfer};
use crate::platform::message_queue::{self, MessageQueue, default_messages, max_messages, unlink};

/// The part of `posix-mq` that needs Linux or FreeBSD.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: message_queue::available,
    limit: |_| Some(limit()),
    execute: waiting::execute::<PosixMq, AnyWait>,
    meet: MEET,
    ..Mechanism::BASE
};

/// A queue can be passed to another program where it is a descriptor.
#[cfg(target_os = "linux")]
const MEET: Option<MeetFn> = Some(waiting::meet::<PosixMq, AnyWait>);
#[cfg(not(target_os = "linux"))]
const MEET: Option<MeetFn> = None;

fn limit() -> Limit {
    let (bytes, reason) = message_queue::max_message();
    Limit { bytes, reason }
}

pub(super) struct PosixMq;

impl Channel for PosixMq {
    type End = PosixMqEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<PosixMqEnd>, Failure> {
        let Queues { there, back, messages } = create_queues(setup, &run_names()?)?;
        let copy =
            |queue: &MessageQueue| queue.try_clone().map_err(|errno| setup_failure("dup", errno));
        let sender = PosixMqEnd::new(setup, copy(&there)?, copy(&back)?);
        let receiver = PosixMqEnd::new(setup, back, there);
        Ok(Opened { sender, receiver, granted: granted(setup, messages) })
    }
}

/// The queues of a connection.
pub(super) struct Queues {
    pub(super) there: MessageQueue,
    pub(super) back: MessageQueue,
    /// Number of messages that the first one holds.
    pub(super) messages: u64,
}

/// Creates the queues of a connection, already unlinked.
pub(super) fn create_queues(setup: &Setup<'_>, names: &RunNames) -> Result<Queues, Failure> {
    let (there, messages) = create_queue(setup, names, QueueDirection::Forward)?;
    let (back, _) = create_queue(setup, names, QueueDirection::Reverse)?;
    Ok(Queues { there, back, messages })
}

/// Returns the size of a queue of `messages` messages.
pub(super) fn granted(setup: &Setup<'_>, messages: u64) -> Granted {
    Granted { kernel_buffer_bytes: Some(messages * setup.buffer_bytes) }
}

/// Creates a queue, already unlinked, and returns it with the number of messages that it holds: as many as
/// requested, or fewer if the limits allow no more.
fn create_queue(
    setup: &Setup<'_>,
    names: &RunNames,
    direction: QueueDirection,
) -> Result<(MessageQueue, u64), Failure> {
    let requested =
        setup.kernel_buffer_requested_bytes.map(|bytes| bytes / setup.buffer_bytes.max(1));
    let messages =
        requested.map_or_else(default_messages, |requested| requested.min(max_messages()));
    let mut messages = messages.max(1);
    loop {
        match open(setup, &queue_name(names, direction), messages) {
            Ok(queue) => return Ok((queue, messages)),
            Err(Errno::MFILE) if messages > 1 => messages /= 2,
            Err(errno) => {
                return Err(setup_failure("mq_open", errno)
                    .with_remedy("raise RLIMIT_MSGQUEUE (ulimit -q) or fs.mqueue.queues_max"));
            }
        }
    }
}

fn open(setup: &Setup<'_>, name: &CStr, messages: u64) -> Result<MessageQueue, Errno> {
    let wait = if setup.blocking == Blocking::Try { libc::O_NONBLOCK } else { 0 };
    let queue = MessageQueue::create(name, wait, messages, setup.buffer_bytes)?;
    // If the name remains, the command removes it.
    let _ = unlink(name);
    Ok(queue)
}

#[derive(Debug)]
pub(super) struct PosixMqEnd {
    outgoing: MessageQueue,
    incoming: MessageQueue,
    message_bytes: usize,
    /// Buffer for a whole message: the kernel requires this size even if a shorter message is expected.
    receive_buffer: Option<Buffer>,
}

impl Endpoint for PosixMqEnd {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        self.receive_buffer = Some(Buffer::new_touched(self.message_bytes, 0)?);
        Ok(())
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.outgoing.send(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.receive_with(MessageQueue::receive, bytes)
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        Some(Descriptors { read: self.incoming.as_fd(), write: self.outgoing.as_fd() })
    }
}

impl TryTransfer for PosixMqEnd {
    #[inline]
    fn try_send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.outgoing.try_send(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn try_recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.receive_with(MessageQueue::try_receive, bytes)
    }
}

impl PosixMqEnd {
    pub(super) fn new(setup: &Setup<'_>, outgoing: MessageQueue, incoming: MessageQueue) -> Self {
        let message_bytes = usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX);
        Self { outgoing, incoming, message_bytes, receive_buffer: None }
    }

    #[inline]
    fn receive_with(
        &mut self,
        receive: impl Fn(&MessageQueue, &mut [u8]) -> Result<usize, Errno>,
        bytes: &mut [u8],
    ) -> Result<usize, Errno> {
        if bytes.len() >= self.message_bytes {
            return receive(&self.incoming, bytes);
        }
        let buffer = self.receive_buffer.as_mut().ok_or(Errno::INVAL)?;
        let got = receive(&self.incoming, buffer)?;
        bytes.get_mut(..got).ok_or(Errno::MSGSIZE)?.copy_from_slice(&buffer[..got]);
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::PosixMq;
    use crate::mechanism::waiting::assert_tries_return;

    #[test]
    fn a_try_returns_at_once() {
        assert_tries_return::<PosixMq>();
    }
}
