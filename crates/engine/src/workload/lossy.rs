//! A stream over a mechanism that may lose messages.
//!
//! The receiver cannot know which message is the last, so it reads the time stamp counter after each, also in one
//! thread. The sender ends with empty messages, repeated until the receiver reports that it has seen one.

use std::time::Duration;

use ipcperf_model::{Failure, FailureKind};
use rustix::io::Errno;

use super::Task;
use super::transfer::{boundary_lost, call_failed};
use crate::channel::MessageEnd;
use crate::clock::{Timestamp, ticks};
use crate::payload_check::{MessageDirection, Payload};
use crate::shared_state::Control;

/// Time the sender waits for the report before it repeats the end mark.
const END_MARK_INTERVAL: Duration = Duration::from_micros(200);

/// Sends empty messages until the receiver has seen one.
pub(super) fn send_end<E: MessageEnd + ?Sized, P>(
    task: &mut Task<'_, E, P>,
) -> Result<(), Failure> {
    while !task.control.stream_has_ended() {
        task.meter.transfers += 1;
        match task.end.send(&[]) {
            Ok(_) | Err(Errno::INTR) => task.control.wait_for_stream_end(END_MARK_INTERVAL),
            Err(errno) => return Err(call_failed("send", 0, errno)),
        }
    }
    Ok(())
}

/// Messages that have arrived of a stream whose last message is not known.
#[derive(Debug)]
pub(super) struct Arrivals {
    begin: Timestamp,
    last_ticks: u64,
    messages: u64,
}

impl Arrivals {
    pub(super) fn new() -> Self {
        let begin = Timestamp::now();
        Self { begin, last_ticks: begin.ticks, messages: 0 }
    }

    #[inline]
    pub(super) fn record(&mut self) {
        self.last_ticks = ticks();
        self.messages += 1;
    }

    /// Stops the clock at the last arrival, however much later this is called.
    pub(super) fn finish(&self, control: &Control) {
        let end = Timestamp::now();
        control.finish(end.ns - idle_ns(self.begin, end, self.last_ticks), self.messages);
    }
}

/// Receives until an empty message marks the end of the stream.
pub(super) fn receive<E: MessageEnd + ?Sized, P: Payload>(
    task: &mut Task<'_, E, P>,
) -> Result<(), Failure> {
    let (mut arrivals, mut next) = (Arrivals::new(), 0);
    while receive_one(task, &mut next)? == Arrival::Message {
        arrivals.record();
    }
    arrivals.finish(task.control);
    task.control.end_stream();
    Ok(())
}

/// Time between the last arrival and `end`, ns.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive time within one run"
)]
fn idle_ns(begin: Timestamp, end: Timestamp, last_ticks: u64) -> u64 {
    let late = end.ticks.saturating_sub(last_ticks) as f64 * begin.ns_per_tick(end);
    (late as u64).min(end.ns - begin.ns)
}

/// Result of a receive.
#[derive(PartialEq, Eq)]
pub(super) enum Arrival {
    /// A message.
    Message,
    /// The mark of the end.
    End,
}

/// Receives a message, numbered `next` or later, or the mark of the end; `next` then follows it.
#[inline]
pub(super) fn receive_one<E: MessageEnd + ?Sized, P: Payload>(
    task: &mut Task<'_, E, P>,
    next: &mut u64,
) -> Result<Arrival, Failure> {
    loop {
        task.meter.transfers += 1;
        let into = task.incoming.buffer(task.end.traits(), *next, task.size.buffer_bytes);
        return match task.end.recv(into) {
            Ok(0) => Ok(Arrival::End),
            Ok(got) => {
                *next = check(task, got, *next)? + 1;
                Ok(Arrival::Message)
            }
            Err(Errno::INTR) => continue,
            Err(errno) => Err(call_failed("receive", task.size.buffer_bytes, errno)),
        };
    }
}

/// Checks a message that may follow lost ones, and returns its number. It lies in the buffer of `next`, the expected
/// message.
#[inline]
pub(super) fn check<E: MessageEnd + ?Sized, P: Payload>(
    task: &mut Task<'_, E, P>,
    got: usize,
    next: u64,
) -> Result<u64, Failure> {
    let message = &*task.incoming.buffer(task.end.traits(), next, got);
    let number = task.payload.message_number(message, next);
    if number < next || number >= task.size.messages {
        return Err(out_of_order(number, next));
    }
    task.payload.check(message, number, MessageDirection::Forward)?;
    task.arrived_bytes += got as u64;
    if task.is_whole(number, got) {
        return Ok(number);
    }
    Err(boundary_lost(task.message_bytes(number, MessageDirection::Forward), got))
}

#[cold]
pub(super) fn out_of_order(number: u64, next: u64) -> Failure {
    let place = format!("received message {number}; expected {next} or a later one");
    Failure::new(FailureKind::Corrupt, place)
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsFd, OwnedFd};
    use std::time::Instant;

    use ipcperf_model::Answer;
    use ipcperf_model::message_options::MessageOptions;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::super::interleaved::LOSS_TIMEOUT;
    use super::super::stream::Stream;
    use super::super::{BufferPool, Meter, PhaseSize, Workload};
    use super::*;
    use crate::channel::{Descriptors, Endpoint};
    use crate::histogram::TickHistogram;
    use crate::payload_check::Unchecked;

    /// A pair of datagram sockets that loses all but the first `remaining` messages.
    struct Leaky {
        socket: OwnedFd,
        remaining: u64,
    }

    impl Leaky {
        fn pair(remaining: u64) -> [Self; 2] {
            let (unix, kind) = (AddressFamily::UNIX, SocketType::DGRAM);
            let (one, other) = socketpair(unix, kind, SocketFlags::NONBLOCK, None).unwrap();
            [one, other].map(|socket| Self { socket, remaining })
        }
    }

    impl Endpoint for Leaky {
        const KEEPS_BOUNDARIES: bool = true;
        const LOSSY: bool = true;

        fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
            if self.remaining == 0 {
                return Ok(bytes.len());
            }
            self.remaining -= 1;
            rustix::io::write(&self.socket, bytes)
        }

        fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
            rustix::io::read(&self.socket, bytes)
        }

        fn descriptors(&self) -> Option<Descriptors<'_>> {
            Some(Descriptors { read: self.socket.as_fd(), write: self.socket.as_fd() })
        }
    }

    #[test]
    fn in_one_thread_the_silence_after_the_last_arrival_is_not_elapsed_time() {
        for kept in [0, 3] {
            let ([mut end, mut receiver], control) = (Leaky::pair(kept), Control::default());
            let pool = || BufferPool::new(64, 1, &MessageOptions::default()).unwrap();
            let [mut outgoing, mut incoming] = [pool(), pool()];
            let mut task = Task {
                end: &mut end,
                outgoing: outgoing.phase_buffers(),
                incoming: incoming.phase_buffers(),
                payload: Unchecked,
                size: PhaseSize::new(64, 10),
                answer: Answer::Separate(64),
                control: &control,
                meter: Meter::default(),
                trips: &mut TickHistogram::new_touched(),
                timed_every: 1,
                arrived_bytes: 0,
            };
            let start = Instant::now();
            Stream::both(&mut task, &mut receiver).unwrap();
            let others = start.elapsed() - Duration::from_nanos(control.elapsed_ns());
            assert_eq!(control.messages(), kept);
            assert!(others >= LOSS_TIMEOUT, "{others:?}");
        }
    }
}
