//! Sends or receives one whole message: short transfers are continued where they stopped.

use ipcperf_model::{Failure, FailureKind};
use rustix::io::Errno;

use super::{Meter, Task};
use crate::NO_SPACE;
use crate::channel::MessageEnd;
use crate::payload_check::{MessageDirection, Payload};

/// Remedy for a send with which too many descriptors would be in flight.
const MANY_DESCRIPTORS: &str = "raise the limit on open files, which also limits the descriptors in \
                                flight (ulimit -n 20000), or pass fewer with each message (option \
                                fds)";

/// Composes message `number`, of `bytes`, in its send buffer, and sends it.
#[inline]
pub(super) fn send<E: MessageEnd + ?Sized, P: Payload>(
    task: &mut Task<'_, E, P>,
    what: (u64, usize),
    direction: MessageDirection,
    meter: &mut Meter,
) -> Result<(), Failure> {
    send_with(task, what, direction, meter, |_| {})
}

/// Sends like [`send`], and calls `complete` with the composed message just before the call that sends it.
#[inline]
pub(super) fn send_with<E: MessageEnd + ?Sized, P: Payload>(
    task: &mut Task<'_, E, P>,
    (number, bytes): (u64, usize),
    direction: MessageDirection,
    meter: &mut Meter,
    complete: impl FnOnce(&mut [u8]),
) -> Result<(), Failure> {
    if task.end.traits().sends_in_place {
        let refused = |errno| call_failed("send", bytes, errno);
        task.end.loan(bytes).map_err(refused)?;
        task.payload.stamp(task.end.loaned(), number, direction);
        complete(task.end.loaned());
        meter.transfers += 1;
        return task.end.send_loan().map_err(refused);
    }
    let message = task.outgoing.buffer(task.end.traits(), number, bytes);
    task.payload.stamp(message, number, direction);
    complete(message);
    send_message(task.end, message, meter)
}

/// Receives message `number`, of `bytes`, and checks it.
#[inline]
pub(super) fn receive<E: MessageEnd + ?Sized, P: Payload>(
    task: &mut Task<'_, E, P>,
    what: (u64, usize),
    direction: MessageDirection,
    meter: &mut Meter,
) -> Result<(), Failure> {
    receive_with(task, what, direction, meter, |_| {})
}

/// Receives like [`receive`], and calls `arrived` with the message before it is checked.
#[inline]
pub(super) fn receive_with<E: MessageEnd + ?Sized, P: Payload>(
    task: &mut Task<'_, E, P>,
    (number, bytes): (u64, usize),
    direction: MessageDirection,
    meter: &mut Meter,
    arrived: impl FnOnce(&[u8]),
) -> Result<(), Failure> {
    if task.end.traits().receives_in_place {
        take(task.end, bytes, meter)?;
        arrived(task.end.taken());
        task.payload.check(task.end.taken(), number, direction)?;
        return task.end.release().map_err(|errno| call_failed("receive", bytes, errno));
    }
    let message = task.incoming.buffer(task.end.traits(), number, bytes);
    receive_message(task.end, message, meter)?;
    arrived(message);
    task.payload.check(message, number, direction)
}

/// Receives message `number`, of `bytes`, checks it, and sends it back from where it lies: from a buffer that is not
/// soon reused, in case the mechanism borrows it.
pub(super) fn echo<E: MessageEnd + ?Sized, P: Payload>(
    task: &mut Task<'_, E, P>,
    (number, bytes): (u64, usize),
    meter: &mut Meter,
) -> Result<(), Failure> {
    if task.end.traits().receives_in_place {
        take(task.end, bytes, meter)?;
        task.payload.check(task.end.taken(), number, MessageDirection::Forward)?;
        meter.transfers += 1;
        return task.end.send_taken().map_err(|errno| call_failed("send", bytes, errno));
    }
    let message = task.outgoing.buffer(task.end.traits(), number, bytes);
    receive_message(task.end, message, meter)?;
    task.payload.check(message, number, MessageDirection::Forward)?;
    send_message(task.end, message, meter)
}

/// Takes a message of `bytes` and leaves it in place.
#[inline]
fn take<E: MessageEnd + ?Sized>(
    end: &mut E,
    bytes: usize,
    meter: &mut Meter,
) -> Result<(), Failure> {
    meter.transfers += 1;
    match end.take().map_err(|errno| call_failed("receive", bytes, errno))? {
        got if got == bytes => Ok(()),
        0 => Err(peer_gone(bytes)),
        got => Err(boundary_lost(bytes, got)),
    }
}

/// Sends the whole of `message`.
#[inline]
pub(super) fn send_message<E: MessageEnd + ?Sized>(
    end: &mut E,
    message: &[u8],
    meter: &mut Meter,
) -> Result<(), Failure> {
    let mut rest = message;
    while !rest.is_empty() {
        meter.transfers += 1;
        match end.send(rest) {
            Ok(sent) if sent == rest.len() => return Ok(()),
            Ok(sent) => {
                meter.short_writes += 1;
                rest = &rest[sent..];
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(call_failed("send", rest.len(), errno)),
        }
    }
    Ok(())
}

/// Receives a message that fills `message`.
#[inline]
pub(super) fn receive_message<E: MessageEnd + ?Sized>(
    end: &mut E,
    message: &mut [u8],
    meter: &mut Meter,
) -> Result<(), Failure> {
    let mut filled = 0;
    while filled < message.len() {
        filled += receive_once(end, &mut message[filled..], meter)?;
    }
    Ok(())
}

/// Receives once: a whole message if boundaries are kept, else the data that has arrived.
#[inline]
pub(super) fn receive_once<E: MessageEnd + ?Sized>(
    end: &mut E,
    into: &mut [u8],
    meter: &mut Meter,
) -> Result<usize, Failure> {
    meter.transfers += 1;
    match end.recv(into) {
        Ok(got) if got == into.len() => Ok(got),
        Ok(0) => Err(peer_gone(into.len())),
        Ok(got) if end.traits().keeps_boundaries => Err(boundary_lost(into.len(), got)),
        Ok(got) => {
            meter.short_reads += 1;
            Ok(got)
        }
        Err(Errno::INTR) => Ok(0),
        Err(errno) => Err(call_failed("receive", into.len(), errno)),
    }
}

#[cold]
pub(super) fn peer_gone(bytes: usize) -> Failure {
    Failure::new(FailureKind::PeerGone, format!("receive of {bytes} bytes found end of file"))
}

#[cold]
pub(super) fn boundary_lost(requested: usize, got: usize) -> Failure {
    let place = format!("a message of {requested} bytes arrived with {got} bytes");
    Failure::new(FailureKind::Boundary, place)
}

#[cold]
pub(super) fn call_failed(call: &str, bytes: usize, errno: Errno) -> Failure {
    let what = match errno {
        Errno::PIPE | Errno::CONNRESET | Errno::CONNREFUSED | Errno::NOTCONN => {
            FailureKind::PeerGone
        }
        Errno::MSGSIZE if call == "receive" => FailureKind::Boundary,
        _ => FailureKind::Call,
    };
    let failure =
        Failure::from_errno(what, format!("{call} of {bytes} bytes"), errno.raw_os_error());
    match errno {
        Errno::NOSPC | Errno::DQUOT => failure.with_remedy(NO_SPACE),
        Errno::TOOMANYREFS => failure.with_remedy(MANY_DESCRIPTORS),
        _ => failure,
    }
}
