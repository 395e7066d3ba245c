//! One thread that runs both peers: calls do not block, sends and receives alternate, and the thread sleeps only when
//! neither side can move data.

use std::ops::Range;
use std::time::Duration;

use ipcperf_model::Failure;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::transfer::{boundary_lost, call_failed, peer_gone};
use super::{Meter, Task, lossy};
use crate::channel::MessageEnd;
use crate::payload_check::{MessageDirection, Payload};

/// Period without arrivals, after all was sent, after which the remaining messages count as lost.
pub(super) const LOSS_TIMEOUT: Duration = Duration::from_millis(20);

/// Position in one direction: the message and the offset in it.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    number: u64,
    offset: usize,
}

/// Whether a side moved data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Moved,
    Blocked,
}

/// Whether anything is left to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remaining {
    Some,
    Nothing,
}

/// Direction of the messages. Passed by value, so that it is a compile-time constant in each loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    /// From the task's end to the other, or back.
    direction: MessageDirection,
    /// Direction that their stamps encode.
    stamped_as: MessageDirection,
}

impl Leg {
    /// From the task's end to the other.
    pub(super) const FORWARD: Self =
        Self { direction: MessageDirection::Forward, stamped_as: MessageDirection::Forward };

    /// Replies to the messages that came that way.
    pub(super) const fn reverse(stamped_as: MessageDirection) -> Self {
        Self { direction: MessageDirection::Reverse, stamped_as }
    }

    /// Whether messages are written before they are sent. In one thread an echo still lies in the buffer it was sent
    /// from.
    fn needs_stamp(self) -> bool {
        self.direction == self.stamped_as
    }
}

/// Transfers the messages `numbers` in the direction of `leg`. Returns the number after the last that arrived: the end
/// of `numbers`, unless the mechanism loses messages. `on_arrival` is called after each message.
///
/// Inlined, so that `leg` is a constant also if the caller is in another codegen unit: 1 ns of 3.5 ns per message.
#[inline(always)]
pub(super) fn transfer_range<E: MessageEnd + ?Sized, P: Payload>(
    task: &mut Task<'_, E, P>,
    other: &mut E,
    numbers: Range<u64>,
    leg: Leg,
    mut on_arrival: impl FnMut(),
) -> Result<u64, Failure> {
    let mut out = Cursor { number: numbers.start, offset: 0 };
    let mut into = out;
    // Counted in registers: through `task` each count would be a store and a load. No other function may get a reference
    // to it, unless that function is inlined.
    let mut meter = task.meter;
    while into.number < numbers.end {
        let remaining = if out.number < numbers.end { Remaining::Some } else { Remaining::Nothing };
        let sent = match remaining {
            Remaining::Some => send_step(task, other, &mut out, leg, &mut meter)?,
            Remaining::Nothing => Progress::Blocked,
        };
        let before = into.number;
        let received = receive_step(task, other, &mut into, leg, &mut meter)?;
        if into.number > before {
            on_arrival();
        }
        if sent == Progress::Blocked && received == Progress::Blocked {
            let waited = wait((&*task.end, &*other), leg.direction, remaining)?;
            meter.transfers += waited.polls;
            meter.polls += waited.polls;
            if waited.progress == Progress::Blocked {
                break;
            }
        }
    }
    task.meter = meter;
    Ok(into.number)
}

#[inline(always)]
fn send_step<E: MessageEnd + ?Sized, P: Payload>(
    task: &mut Task<'_, E, P>,
    other: &mut E,
    at: &mut Cursor,
    leg: Leg,
    meter: &mut Meter,
) -> Result<Progress, Failure> {
    let bytes = task.message_bytes(at.number, leg.direction);
    let message = task.outgoing.buffer(task.end.traits(), at.number, bytes);
    if at.offset == 0 && leg.needs_stamp() {
        task.payload.stamp(message, at.number, leg.direction);
    }
    let rest = &message[at.offset..];
    let end = if leg.direction == MessageDirection::Forward { &mut *task.end } else { other };
    meter.transfers += 1;
    match end.send(rest) {
        Ok(sent) => {
            meter.short_writes += u64::from(sent < rest.len());
            advance(at, sent, rest.len());
            Ok(Progress::Moved)
        }
        Err(Errno::AGAIN | Errno::INTR) => Ok(Progress::Blocked),
        Err(errno) => Err(call_failed("send", rest.len(), errno)),
    }
}

#[inline(always)]
fn receive_step<E: MessageEnd + ?Sized, P: Payload>(
    task: &mut Task<'_, E, P>,
    other: &mut E,
    at: &mut Cursor,
    leg: Leg,
    meter: &mut Meter,
) -> Result<Progress, Failure> {
    let traits = task.end.traits();
    let bytes = match leg.direction {
        MessageDirection::Forward if traits.lossy => task.buffer_bytes(at.number),
        direction => task.message_bytes(at.number, direction),
    };
    let end = if leg.direction == MessageDirection::Forward { other } else { &mut *task.end };
    let rest = &mut task.incoming.buffer(traits, at.number, bytes)[at.offset..];
    meter.transfers += 1;
    match end.recv(rest) {
        Ok(0) => Err(peer_gone(rest.len())),
        Ok(got) if traits.lossy && leg.direction == MessageDirection::Forward => {
            at.number = lossy::check(task, got, at.number)? + 1;
            Ok(Progress::Moved)
        }
        Ok(got) => {
            let requested = rest.len();
            meter.short_reads += u64::from(got < requested);
            if got < requested && traits.keeps_boundaries {
                return Err(boundary_lost(requested, got));
            }
            accept_bytes(task, at, got, leg)?;
            Ok(Progress::Moved)
        }
        Err(Errno::AGAIN | Errno::INTR) => Ok(Progress::Blocked),
        Err(errno) => Err(call_failed("receive", bytes - at.offset, errno)),
    }
}

/// Moves the cursor past `got` received bytes and checks the message that they complete.
#[inline(always)]
fn accept_bytes<E: MessageEnd + ?Sized, P: Payload>(
    task: &mut Task<'_, E, P>,
    at: &mut Cursor,
    got: usize,
    leg: Leg,
) -> Result<(), Failure> {
    let (number, bytes) = (at.number, task.message_bytes(at.number, leg.direction));
    advance(at, got, bytes - at.offset);
    if P::READS && at.number > number {
        task.payload.check(
            task.incoming.buffer(task.end.traits(), number, bytes),
            number,
            leg.stamped_as,
        )?;
    }
    Ok(())
}

#[inline(always)]
fn advance(at: &mut Cursor, moved: usize, rest: usize) {
    if moved == rest {
        *at = Cursor { number: at.number + 1, offset: 0 };
    } else {
        at.offset += moved;
    }
}

/// Result of [`wait`].
struct Waited {
    progress: Progress,
    polls: u64,
}

/// Sleeps until a side can move data. There is no progress if a mechanism that loses messages has been silent for
/// [`LOSS_TIMEOUT`] after all was sent.
fn wait<E: MessageEnd + ?Sized>(
    (own, other): (&E, &E),
    direction: MessageDirection,
    remaining: Remaining,
) -> Result<Waited, Failure> {
    let (from, to) =
        if direction == MessageDirection::Forward { (own, other) } else { (other, own) };
    let (Some(from), Some(to)) = (from.descriptors(), to.descriptors()) else {
        rustix::thread::sched_yield();
        return Ok(Waited { progress: Progress::Moved, polls: 0 });
    };
    let arrives = PollFd::from_borrowed_fd(to.read, PollFlags::IN);
    let room = PollFd::from_borrowed_fd(from.write, PollFlags::OUT);
    let mut both = [arrives, room];
    let all_sent = remaining == Remaining::Nothing;
    let watched = if all_sent { &mut both[..1] } else { &mut both[..] };
    let silence = Timespec { tv_sec: 0, tv_nsec: i64::from(LOSS_TIMEOUT.subsec_nanos()) };
    let limit = (own.traits().lossy && all_sent).then_some(&silence);
    let progress = match poll(watched, limit) {
        Ok(0) => Progress::Blocked,
        Ok(_) | Err(Errno::INTR) => Progress::Moved,
        Err(errno) => return Err(call_failed("poll", 0, errno)),
    };
    Ok(Waited { progress, polls: 1 })
}
