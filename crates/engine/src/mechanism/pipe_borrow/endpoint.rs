//! Implementation of `pipe-borrow`.

use ipcperf_model::Failure;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionread};
use rustix::pipe::{IoSliceRaw, SpliceFlags, vmsplice};
use rustix::thread::sched_yield;

use super::{REUSE, ROTATION, THRESHOLD};
use crate::channel::{Blocking, Channel, Descriptors, Endpoint, Limit, Mechanism, Opened, Setup};
use crate::mechanism::pipe::new_pipe;
use crate::mechanism::pipe_end::{PipeEnd, open_endpoints, requested_capacity};
use crate::mechanism::waiting::{self, NonblockingWait};
use crate::platform::read_write;

/// The part of `pipe-borrow` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    in_flight_messages,
    limit,
    execute: waiting::execute::<PipeBorrow, NonblockingWait>,
    ..Mechanism::BASE
};

/// Method that keeps the pages of a message from changing before they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageReuse {
    /// Waits until they have been read.
    Sync,
    /// Sends the next message from other pages.
    Rotate,
}

/// Borrowed data that must be read before the buffer is reused, with [`PageReuse::Sync`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Borrowed {
    /// Nothing.
    Nothing,
    /// A part of the message being sent.
    PartOfMessage,
    /// A whole message.
    WholeMessage,
}

struct PipeBorrow;

impl Channel for PipeBorrow {
    type End = BorrowEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<BorrowEnd>, Failure> {
        let Opened { sender, receiver, granted } = open_endpoints(new_pipe()?, new_pipe()?, setup)?;
        let capacity_bytes = granted.kernel_buffer_bytes.unwrap_or(USUAL_CAPACITY_BYTES);
        let end = |pipe| BorrowEnd::new(pipe, capacity_bytes, setup);
        Ok(Opened { sender: end(sender), receiver: end(receiver), granted })
    }
}

#[derive(Debug)]
struct BorrowEnd {
    pipe: PipeEnd,
    threshold_bytes: usize,
    reuse: PageReuse,
    send_buffers: usize,
    blocking: Blocking,
    /// Part of a message that must be read before the next one may be sent.
    borrowed: Borrowed,
    calls: u64,
}

impl BorrowEnd {
    fn new(pipe: PipeEnd, capacity_bytes: u64, setup: &Setup<'_>) -> Self {
        let threshold = borrowed_from(setup);
        let reuse = page_reuse(setup);
        let send_buffers = match (setup.blocking, rotation(setup, capacity_bytes)) {
            (_, Some(buffers)) => buffers,
            // A nonblocking endpoint checks just before the next message, which has been composed by then: in
            // a second buffer.
            (Blocking::Try, None) => 2,
            (Blocking::Wait, None) => 1,
        };
        Self {
            pipe,
            threshold_bytes: threshold.and_then(|b| usize::try_from(b).ok()).unwrap_or(usize::MAX),
            reuse,
            send_buffers: usize::try_from(send_buffers).unwrap_or(1),
            blocking: setup.blocking,
            borrowed: Borrowed::Nothing,
            calls: 0,
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.calls += 1;
        if bytes.len() < self.threshold_bytes {
            return read_write::write(&self.pipe.write, bytes);
        }
        let flags = match self.blocking {
            Blocking::Wait => SpliceFlags::empty(),
            Blocking::Try => SpliceFlags::NONBLOCK,
        };
        // SAFETY: the slice is readable during the call. The pages are not gifted (no `SPLICE_F_GIFT`): what
        // the reader sees if they change is what this mechanism is about, and no memory of this process
        // changes by it.
        let sent = unsafe { vmsplice(&self.pipe.write, &[IoSliceRaw::from_slice(bytes)], flags) }?;
        if self.reuse == PageReuse::Sync {
            self.borrowed = Borrowed::PartOfMessage;
        }
        Ok(sent)
    }

    /// Returns whether the reader has read everything.
    fn check_empty(&mut self) -> Result<bool, Errno> {
        self.calls += 1;
        Ok(ioctl_fionread(&self.pipe.write)? == 0)
    }

    /// Waits until the reader has read all of a borrowed message.
    fn wait_drained(&mut self) -> Result<(), Errno> {
        let mut checks = 0_u64;
        while !self.check_empty()? {
            if self.blocking == Blocking::Try {
                return Err(Errno::AGAIN);
            }
            checks += 1;
            if checks.is_multiple_of(READER_CHECK_INTERVAL) && self.check_reader_gone()? {
                return Err(Errno::PIPE);
            }
            self.calls += 1;
            sched_yield();
        }
        self.borrowed = Borrowed::Nothing;
        Ok(())
    }

    /// Returns whether no reader is left, so that the pipe will never be empty.
    fn check_reader_gone(&mut self) -> Result<bool, Errno> {
        self.calls += 1;
        let mut watched = [PollFd::new(&self.pipe.write, PollFlags::empty())];
        poll(&mut watched, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
        Ok(watched[0].revents().contains(PollFlags::ERR))
    }
}

/// Number of checks of a nonempty pipe between checks for a reader: about 10 ms.
const READER_CHECK_INTERVAL: u64 = 10_000;

/// Capacity of a pipe if the setup requests no other, bytes.
const USUAL_CAPACITY_BYTES: u64 = 65_536;
/// Minimum number of messages that are assumed to be in memory.
const MIN_IN_FLIGHT: u64 = 4;
/// Maximum memory of the buffers in rotation for messages of different sizes, bytes.
const MAX_ROTATION_BYTES: u64 = 1 << 30;

/// Size from which on messages are borrowed; `None` if none of those of `setup` is.
fn borrowed_from(setup: &Setup<'_>) -> Option<u64> {
    let threshold = match setup.option(&THRESHOLD) {
        "never" => None,
        _ => setup.number(&THRESHOLD),
    };
    threshold.filter(|&bytes| bytes <= setup.buffer_bytes)
}

fn page_reuse(setup: &Setup<'_>) -> PageReuse {
    if setup.option(&REUSE) == "sync" { PageReuse::Sync } else { PageReuse::Rotate }
}

/// Number of buffers in rotation over a pipe of `capacity_bytes`; `None` if messages are not sent in rotation.
fn rotation(setup: &Setup<'_>, capacity_bytes: u64) -> Option<u64> {
    let threshold = borrowed_from(setup).filter(|_| page_reuse(setup) == PageReuse::Rotate)?;
    let max_buffers = setup.number(&ROTATION).unwrap_or(u64::MAX);
    let smallest = setup.smallest_bytes;
    let borrowed = rotation_buffers(capacity_bytes, smallest);
    if smallest >= threshold {
        return Some(borrowed.min(max_buffers));
    }
    // Messages that are copied share slots, so more of them can follow a borrowed one that is still in the pipe.
    let copied = capacity_bytes.div_ceil(smallest.max(1));
    Some(borrowed.saturating_add(copied).min(max_buffers))
}

/// Returns the number of buffers that keeps every page unchanged while a pipe of `capacity_bytes` refers to
/// it: as many whole messages as the pipe has slots for, one being read and one being written.
fn rotation_buffers(capacity_bytes: u64, message_bytes: u64) -> u64 {
    let page = rustix::param::page_size() as u64;
    (capacity_bytes / page).div_ceil(message_bytes.div_ceil(page).max(1)) + 2
}

/// Number of buffers in rotation with the capacity that is requested; `None` if messages are not sent in rotation.
fn planned_rotation(setup: &Setup<'_>) -> Option<u64> {
    let requested = requested_capacity(setup).ok().flatten();
    rotation(setup, requested.unwrap_or(USUAL_CAPACITY_BYTES))
}

/// Number of messages in the buffers that a peer sends from.
fn in_flight_messages(setup: &Setup<'_>) -> u64 {
    planned_rotation(setup).unwrap_or(0).max(MIN_IN_FLIGHT)
}

/// Messages of different sizes may need many buffers in rotation.
fn limit(setup: &Setup<'_>) -> Option<Limit> {
    let (small, buffers) = (setup.smallest_bytes, planned_rotation(setup)?);
    let reason = format!(
        "it sends from {buffers} buffers in rotation, because as many messages of {small} bytes may be in the pipe"
    );
    (small < borrowed_from(setup)?).then(|| Limit { bytes: MAX_ROTATION_BYTES / buffers, reason })
}

impl Endpoint for BorrowEnd {
    const KEEPS_BOUNDARIES: bool = false;
    const BORROWS_SEND_BUFFER: bool = true;

    fn send_buffers_needed(&self) -> usize {
        self.send_buffers
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        if self.borrowed == Borrowed::WholeMessage {
            self.wait_drained()?;
        }
        let sent = self.write(bytes)?;
        if sent == bytes.len() && self.borrowed == Borrowed::PartOfMessage {
            self.borrowed = Borrowed::WholeMessage;
            if self.blocking == Blocking::Wait {
                self.wait_drained()?;
            }
        }
        Ok(sent)
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.calls += 1;
        self.pipe.recv(bytes)
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.calls))
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        self.pipe.descriptors()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rotation_covers_what_the_pipe_can_refer_to() {
        let page = rustix::param::page_size() as u64;
        for (slots, pages, buffers) in
            [(16, 1, 18), (16, 2, 10), (16, 3, 8), (16, 256, 3), (1, 1, 3)]
        {
            assert_eq!(rotation_buffers(slots * page, pages * page), buffers);
        }
        assert_eq!(rotation_buffers(16 * page, 32), 18);
    }
}
