//! A stream over a mechanism that may lose messages.
//!
//! The receiver cannot know which message is the last, so it reads the time stamp counter after
//! each. The sender ends with empty messages, repeated until the receiver says it has seen one.

use std::time::Duration;

use rustix::io::Errno;

use super::Task;
use super::transfer::{boundary_lost, call_failed};
use crate::clock::{Stamp, ticks};
use crate::mechanism::Endpoint;
use crate::payload::{Payload, Way};
use crate::{Failure, FailureKind};

/// How long the sender waits for an answer before it repeats the end mark.
const REPEAT: Duration = Duration::from_micros(200);

/// Sends empty messages until the receiver has seen one.
pub(super) fn send_end<E: Endpoint, P>(task: &mut Task<'_, E, P>) -> Result<(), Failure> {
    while !task.control.stream_has_ended() {
        task.meter.transfers += 1;
        match task.end.send(&[]) {
            Ok(_) | Err(Errno::INTR) => task.control.wait_for_stream_end(REPEAT),
            Err(errno) => return Err(call_failed("send", 0, errno)),
        }
    }
    Ok(())
}

/// Receives until an empty message says that the stream has ended.
pub(super) fn receive<E: Endpoint, P: Payload>(task: &mut Task<'_, E, P>) -> Result<(), Failure> {
    let begin = Stamp::take();
    let (mut arrived, mut next, mut last_ticks) = (0, 0, begin.ticks);
    while receive_one(task, &mut next)? == Arrival::Message {
        last_ticks = ticks();
        arrived += 1;
    }
    let end = Stamp::take();
    let late_ns = late_ns(begin, end, last_ticks);
    task.control.finish(end.ns - late_ns, arrived);
    task.control.end_stream();
    Ok(())
}

/// How long before `end` the last message had arrived.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive time within one run"
)]
fn late_ns(begin: Stamp, end: Stamp, last_ticks: u64) -> u64 {
    let late = end.ticks.saturating_sub(last_ticks) as f64 * begin.ns_per_tick(end);
    (late as u64).min(end.ns - begin.ns)
}

#[derive(PartialEq, Eq)]
enum Arrival {
    Message,
    End,
}

#[inline]
fn receive_one<E: Endpoint, P: Payload>(
    task: &mut Task<'_, E, P>,
    next: &mut u64,
) -> Result<Arrival, Failure> {
    loop {
        task.meter.transfers += 1;
        return match task.end.recv(task.incoming) {
            Ok(0) => Ok(Arrival::End),
            Ok(got) => {
                *next = check(task, got, *next)? + 1;
                Ok(Arrival::Message)
            }
            Err(Errno::INTR) => continue,
            Err(errno) => Err(call_failed("receive", task.incoming.len(), errno)),
        };
    }
}

/// Checks a message that `lost` others may precede, and returns its number.
#[inline]
pub(super) fn check<E, P: Payload>(
    task: &Task<'_, E, P>,
    got: usize,
    next: u64,
) -> Result<u64, Failure> {
    let message = &task.incoming[..got];
    let number = task.payload.identify(message, next);
    if number < next || number >= task.extent.messages {
        return Err(out_of_order(number, next));
    }
    task.payload.check(message, number, Way::There)?;
    let whole = got == task.extent.buffer_bytes || got == task.extent.last_bytes;
    if whole { Ok(number) } else { Err(boundary_lost(task.extent.bytes_of(number), got)) }
}

#[cold]
fn out_of_order(number: u64, next: u64) -> Failure {
    let place = format!("message {number} arrived where {next} or a later one was due");
    Failure::new(FailureKind::Corrupt, place)
}
