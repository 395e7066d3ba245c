//! One thread that runs both peers: calls do not block, sends and receives alternate, and the thread sleeps only when
//! neither side can move data.

use std::ops::Range;
use std::time::Duration;

use ipcperf_model::Failure;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::transfer::{boundary_lost, call_failed, peer_gone};
use super::{Task, lossy};
use crate::channel::Endpoint;
use crate::payload::{Payload, Way};

/// Period without arrivals, after all was sent, after which the remaining messages count as lost.
pub(super) const SILENCE: Duration = Duration::from_millis(20);

/// Position in one direction: the message and the offset in it.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    number: u64,
    offset: usize,
}

/// Whether a side moved data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Moved,
    Stuck,
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
    way: Way,
    /// Direction that their stamps encode.
    stamped_as: Way,
}

impl Leg {
    /// From the task's end to the other.
    pub(super) const THERE: Self = Self { way: Way::There, stamped_as: Way::There };

    /// Replies to the messages that came that way.
    pub(super) const fn back(stamped_as: Way) -> Self {
        Self { way: Way::Back, stamped_as }
    }

    /// Whether messages are written before they are sent. In one thread an echo still lies in the buffer it was sent
    /// from.
    fn is_composed(self) -> bool {
        self.way == self.stamped_as
    }
}

/// Transfers the messages `numbers` in the direction of `leg`. Returns the number after the last that arrived: the end
/// of `numbers`, unless the mechanism loses messages. `on_arrival` is called after each message.
pub(super) fn carry<E: Endpoint, P: Payload>(
    task: &mut Task<'_, E, P>,
    other: &mut E,
    numbers: Range<u64>,
    leg: Leg,
    mut on_arrival: impl FnMut(),
) -> Result<u64, Failure> {
    let mut out = Cursor { number: numbers.start, offset: 0 };
    let mut into = out;
    while into.number < numbers.end {
        let remaining = if out.number < numbers.end { Remaining::Some } else { Remaining::Nothing };
        let sent = match remaining {
            Remaining::Some => send_step(task, other, &mut out, leg)?,
            Remaining::Nothing => Step::Stuck,
        };
        let before = into.number;
        let received = receive_step(task, other, &mut into, leg)?;
        if into.number > before {
            on_arrival();
        }
        if sent == Step::Stuck
            && received == Step::Stuck
            && wait(task, other, leg.way, remaining)? == Step::Stuck
        {
            break;
        }
    }
    Ok(into.number)
}

#[inline(always)]
fn send_step<E: Endpoint, P: Payload>(
    task: &mut Task<'_, E, P>,
    other: &mut E,
    at: &mut Cursor,
    leg: Leg,
) -> Result<Step, Failure> {
    let bytes = task.bytes_of(at.number, leg.way);
    let message = task.outgoing.of::<E>(at.number, bytes);
    if at.offset == 0 && leg.is_composed() {
        task.payload.stamp(message, at.number, leg.way);
    }
    let rest = &message[at.offset..];
    let end = if leg.way == Way::There { &mut *task.end } else { other };
    task.meter.transfers += 1;
    match end.send(rest) {
        Ok(sent) => {
            task.meter.short_writes += u64::from(sent < rest.len());
            advance(at, sent, rest.len());
            Ok(Step::Moved)
        }
        Err(Errno::AGAIN | Errno::INTR) => Ok(Step::Stuck),
        Err(errno) => Err(call_failed("send", rest.len(), errno)),
    }
}

#[inline(always)]
fn receive_step<E: Endpoint, P: Payload>(
    task: &mut Task<'_, E, P>,
    other: &mut E,
    at: &mut Cursor,
    leg: Leg,
) -> Result<Step, Failure> {
    let bytes = task.bytes_of(at.number, leg.way);
    let end = if leg.way == Way::There { other } else { &mut *task.end };
    let rest = &mut task.incoming.of::<E>(at.number, bytes)[at.offset..];
    task.meter.transfers += 1;
    match end.recv(rest) {
        Ok(0) => Err(peer_gone(rest.len())),
        Ok(got) if E::LOSES && leg.way == Way::There => {
            at.number = lossy::check(task, got, at.number)? + 1;
            Ok(Step::Moved)
        }
        Ok(got) => {
            let asked = rest.len();
            task.meter.short_reads += u64::from(got < asked);
            if got < asked && E::KEEPS_BOUNDARIES {
                return Err(boundary_lost(asked, got));
            }
            arrive(task, at, got, leg)?;
            Ok(Step::Moved)
        }
        Err(Errno::AGAIN | Errno::INTR) => Ok(Step::Stuck),
        Err(errno) => Err(call_failed("receive", bytes - at.offset, errno)),
    }
}

/// Moves the cursor past `got` received bytes and checks the message that they complete.
#[inline(always)]
fn arrive<E: Endpoint, P: Payload>(
    task: &mut Task<'_, E, P>,
    at: &mut Cursor,
    got: usize,
    leg: Leg,
) -> Result<(), Failure> {
    let (number, bytes) = (at.number, task.bytes_of(at.number, leg.way));
    advance(at, got, bytes - at.offset);
    if P::LOOKS && at.number > number {
        task.payload.check(task.incoming.of::<E>(number, bytes), number, leg.stamped_as)?;
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

/// Sleeps until a side can move data. Returns [`Step::Stuck`] if a mechanism that loses messages has been silent for
/// [`SILENCE`] after all was sent.
fn wait<E: Endpoint, P>(
    task: &mut Task<'_, E, P>,
    other: &E,
    way: Way,
    remaining: Remaining,
) -> Result<Step, Failure> {
    let (from, to) = if way == Way::There { (&*task.end, other) } else { (other, &*task.end) };
    let (Some(from), Some(to)) = (from.descriptors(), to.descriptors()) else {
        rustix::thread::sched_yield();
        return Ok(Step::Moved);
    };
    let arrives = PollFd::from_borrowed_fd(to.read, PollFlags::IN);
    let room = PollFd::from_borrowed_fd(from.write, PollFlags::OUT);
    let mut both = [arrives, room];
    let all_sent = remaining == Remaining::Nothing;
    let watched = if all_sent { &mut both[..1] } else { &mut both[..] };
    let silence = Timespec { tv_sec: 0, tv_nsec: i64::from(SILENCE.subsec_nanos()) };
    let limit = (E::LOSES && all_sent).then_some(&silence);
    task.meter.transfers += 1;
    task.meter.polls += 1;
    match poll(watched, limit) {
        Ok(0) => Ok(Step::Stuck),
        Ok(_) | Err(Errno::INTR) => Ok(Step::Moved),
        Err(errno) => Err(call_failed("poll", 0, errno)),
    }
}
