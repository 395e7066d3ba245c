//! `pipe-borrow`: a pipe that borrows the pages of large messages instead of copying them in.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionread};
use rustix::pipe::{IoSliceRaw, SpliceFlags, vmsplice};
use rustix::thread::sched_yield;

use super::pipe::direction;
use super::pipe_end::{CAPACITY, PipeEnd, join};
use crate::channel::{
    Blocking, Channel, Descriptors, Documentation, Endpoint, Mechanism, Opened, OptionSpec,
    OptionValues, Setup,
};
use crate::worker;

/// Option that sets the smallest message that is borrowed.
const THRESHOLD: OptionSpec = OptionSpec {
    name: "threshold",
    about: "from how many bytes on a send borrows; smaller ones are copied",
    values: OptionValues::BytesOr(&["never", "8192"]),
    default: "8192",
};

/// Option that selects when the memory of a message is used again.
const REUSE: OptionSpec = OptionSpec {
    name: "reuse",
    about: "wait until the reader has all of a message, or send from buffers in turn",
    values: OptionValues::OneOf(&["rotate", "sync"]),
    default: "rotate",
};

/// Option that limits the number of buffers in turn.
const ROTATION: OptionSpec = OptionSpec {
    name: "rotation",
    about: "buffers in turn, at most: fewer than enough corrupt messages, as --verify shows",
    values: OptionValues::Number(1..=1_000),
    default: "enough",
};

/// Facts about `pipe-borrow`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "pipe-borrow",
    about: "unnamed pipe that borrows the pages of large messages (vmsplice)",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Lent,
    peer_death: PeerDeath::Told,
    unrelated: Unrelated::No("descriptors are inherited or passed on"),
    helper: Helper::Nobody,
    options: &[CAPACITY, THRESHOLD, REUSE, ROTATION],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A send of the threshold or more is a vmsplice: references to the sender's pages \
            go into the pipe, and the reader's read copies straight out of them, so that there is \
            one copy instead of two. The pages stay the sender's: written to before they are read, \
            they change under the reader. reuse=sync waits after each such message until the pipe \
            is empty (FIONREAD, and sched_yield in between), as FreeBSD's pipes do by themselves; one \
            thread alone cannot wait, and looks before the next message, which has a second buffer. \
            reuse=rotate never waits: it sends from as many buffers in turn as the pipe can refer \
            to, and two more. One call for each send, however short, and with sync those of the \
            waiting; a vmsplice takes no more than the pipe has room for.",
        message_boundaries: "None, as with a pipe.",
        minimum_kernel: "Linux 2.6.17 (vmsplice).",
        defaults_that_matter: "The threshold is FreeBSD's (PIPE_MINDIRECT, 8192 bytes). A page takes \
            a slot however little of it is used: of a pipe of 65536 bytes, 16 slots. More buffers in \
            turn means more memory that is hot: at most the capacity and two messages.",
        references: &["man:vmsplice(2)", "man:pipe(7)", "man:FIONREAD(2const)"],
    },
    holds: |_| 4,
    execute: worker::execute::<PipeBorrow>,
    ..Mechanism::BASE
};

/// Method that keeps the pages of a message from changing before they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reuse {
    /// Waits until they have been read.
    Sync,
    /// Sends the next message from other pages.
    Rotate,
}

/// Borrowed data that must be read before the buffer is reused, with [`Reuse::Sync`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owes {
    /// Nothing.
    Nothing,
    /// A part of the message being sent.
    Piece,
    /// A whole message.
    Whole,
}

struct PipeBorrow;

impl Channel for PipeBorrow {
    type End = BorrowEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<BorrowEnd>, Failure> {
        let Opened { sender, receiver, granted } = join(direction()?, direction()?, setup)?;
        let capacity_bytes = granted.kernel_buffer_bytes.unwrap_or(65_536);
        let end = |pipe| BorrowEnd::new(pipe, capacity_bytes, setup);
        Ok(Opened { sender: end(sender), receiver: end(receiver), granted })
    }
}

#[derive(Debug)]
struct BorrowEnd {
    pipe: PipeEnd,
    threshold_bytes: usize,
    reuse: Reuse,
    turns: usize,
    blocking: Blocking,
    /// Part of a message that must be read before the next one may be sent.
    owes: Owes,
    calls: u64,
}

impl BorrowEnd {
    fn new(pipe: PipeEnd, capacity_bytes: u64, setup: &Setup<'_>) -> Self {
        let threshold = match setup.option(&THRESHOLD) {
            "never" => None,
            _ => setup.number(&THRESHOLD),
        };
        let threshold = threshold.filter(|&bytes| bytes <= setup.buffer_bytes);
        let reuse = if setup.option(&REUSE) == "sync" { Reuse::Sync } else { Reuse::Rotate };
        let rotates = threshold.is_some() && reuse == Reuse::Rotate;
        let most = setup.number(&ROTATION).unwrap_or(u64::MAX);
        let turns = match setup.blocking {
            _ if rotates => enough(capacity_bytes, setup.buffer_bytes).min(most),
            // A nonblocking endpoint checks just before the next message, which has been composed by then: in
            // a second buffer.
            Blocking::Try => 2,
            Blocking::Wait => 1,
        };
        Self {
            pipe,
            threshold_bytes: threshold.and_then(|b| usize::try_from(b).ok()).unwrap_or(usize::MAX),
            reuse,
            turns: usize::try_from(turns).unwrap_or(1),
            blocking: setup.blocking,
            owes: Owes::Nothing,
            calls: 0,
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.calls += 1;
        if bytes.len() < self.threshold_bytes {
            return rustix::io::write(&self.pipe.write, bytes);
        }
        let flags = match self.blocking {
            Blocking::Wait => SpliceFlags::empty(),
            Blocking::Try => SpliceFlags::NONBLOCK,
        };
        // SAFETY: the slice is readable during the call. The pages are not gifted (no `SPLICE_F_GIFT`): what
        // the reader sees if they change is what this mechanism is about, and no memory of this process
        // changes by it.
        let sent = unsafe { vmsplice(&self.pipe.write, &[IoSliceRaw::from_slice(bytes)], flags) }?;
        if self.reuse == Reuse::Sync {
            self.owes = Owes::Piece;
        }
        Ok(sent)
    }

    /// Returns whether the reader has read everything.
    fn is_empty(&mut self) -> Result<bool, Errno> {
        self.calls += 1;
        Ok(ioctl_fionread(&self.pipe.write)? == 0)
    }

    /// Waits until the reader has read all of a borrowed message.
    fn settle(&mut self) -> Result<(), Errno> {
        let mut looks = 0_u64;
        while !self.is_empty()? {
            if self.blocking == Blocking::Try {
                return Err(Errno::AGAIN);
            }
            looks += 1;
            if looks.is_multiple_of(LOOKS) && self.is_abandoned()? {
                return Err(Errno::PIPE);
            }
            self.calls += 1;
            sched_yield();
        }
        self.owes = Owes::Nothing;
        Ok(())
    }

    /// Returns whether no reader is left, so that the pipe will never be empty.
    fn is_abandoned(&mut self) -> Result<bool, Errno> {
        self.calls += 1;
        let mut watched = [PollFd::new(&self.pipe.write, PollFlags::empty())];
        poll(&mut watched, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
        Ok(watched[0].revents().contains(PollFlags::ERR))
    }
}

/// Number of checks of a nonempty pipe between checks for a reader: about 10 ms.
const LOOKS: u64 = 10_000;

/// Returns the number of buffers that keeps every page unchanged while a pipe of `capacity_bytes` refers to
/// it: as many whole messages as the pipe has slots for, one being read and one being written.
fn enough(capacity_bytes: u64, message_bytes: u64) -> u64 {
    let page = rustix::param::page_size() as u64;
    (capacity_bytes / page).div_ceil(message_bytes.div_ceil(page).max(1)) + 2
}

impl Endpoint for BorrowEnd {
    const KEEPS_BOUNDARIES: bool = false;
    const LENDS: bool = true;

    fn turns(&self) -> usize {
        self.turns
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        if self.owes == Owes::Whole {
            self.settle()?;
        }
        let sent = self.put(bytes)?;
        if sent == bytes.len() && self.owes == Owes::Piece {
            self.owes = Owes::Whole;
            if self.blocking == Blocking::Wait {
                self.settle()?;
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
            assert_eq!(enough(slots * page, pages * page), buffers);
        }
        assert_eq!(enough(16 * page, 32), 18);
    }
}
