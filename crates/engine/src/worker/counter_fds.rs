//! Counter descriptors that an instrument hands to a peer, which reads them just before and just after its part
//! of each phase. The instrument interprets the readings.
//!
//! Counters that another process opened are read exactly in this way, whatever they count, and without a call within
//! the timed region.

use std::os::fd::{BorrowedFd, OwnedFd};

use ipcperf_model::CounterReading;
use rustix::io::{Errno, read, retry_on_intr};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, ReturnFlags, recvmsg};

use crate::platform::close_on_exec::RECEIVED;

/// Maximum number of descriptors per peer: the number the kernel passes at once (`SCM_MAX_FD`).
pub const MAX_COUNTER_FDS: usize = 253;
/// Maximum number of 8-byte words in one reading.
const MAX_WORDS: usize = 64;

/// Descriptors of one peer, with their readings of the last phase.
#[derive(Debug, Default)]
pub(crate) struct CounterFds(Vec<CounterFd>);

#[derive(Debug)]
struct CounterFd {
    descriptor: OwnedFd,
    before: ReadBuffer,
    after: ReadBuffer,
}

/// Buffer for one reading, allocated beforehand.
#[derive(Clone, Copy, Debug)]
struct ReadBuffer {
    bytes: [u8; MAX_WORDS * 8],
    length: usize,
}

impl CounterFds {
    /// Receives the descriptors that are passed with the next byte on the socket `from`, and that byte.
    ///
    /// # Errors
    /// Returns `EPIPE` if the other end is closed, `EMSGSIZE` if more descriptors were passed than there is room for,
    /// and the errors of recvmsg(2).
    pub(crate) fn receive(from: BorrowedFd<'_>) -> Result<(Self, u8), Errno> {
        let (mut byte, mut counter_fds) = ([0], Vec::new());
        let room = rustix::cmsg_space!(ScmRights(MAX_COUNTER_FDS));
        let mut space = vec![std::mem::MaybeUninit::uninit(); room];
        let mut passed = RecvAncillaryBuffer::new(&mut space);
        let into = &mut [std::io::IoSliceMut::new(&mut byte)];
        let received = retry_on_intr(|| recvmsg(from, into, &mut passed, RECEIVED))?;
        for message in passed.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                counter_fds.extend(descriptors.map(CounterFd::new));
            }
        }
        match received.bytes {
            0 => Err(Errno::PIPE),
            _ if received.flags.contains(ReturnFlags::CTRUNC) => Err(Errno::MSGSIZE),
            _ => Ok((Self(counter_fds), byte[0])),
        }
    }

    /// Reads every descriptor before a phase.
    pub(crate) fn read_before(&mut self) {
        self.0.iter_mut().for_each(|counter_fd| counter_fd.before.read(&counter_fd.descriptor));
    }

    /// Reads every descriptor after a phase.
    pub(crate) fn read_after(&mut self) {
        self.0.iter_mut().for_each(|counter_fd| counter_fd.after.read(&counter_fd.descriptor));
    }

    /// Readings of the last phase, in the order in which the descriptors were handed over.
    pub(crate) fn readings(&self) -> Vec<CounterReading> {
        let reading = |counter_fd: &CounterFd| CounterReading {
            before: counter_fd.before.values(),
            after: counter_fd.after.values(),
        };
        self.0.iter().map(reading).collect()
    }
}

impl CounterFd {
    fn new(descriptor: OwnedFd) -> Self {
        Self { descriptor, before: ReadBuffer::EMPTY, after: ReadBuffer::EMPTY }
    }
}

impl ReadBuffer {
    const EMPTY: Self = Self { bytes: [0; MAX_WORDS * 8], length: 0 };

    /// Reads with one call; a failed read leaves an empty reading.
    fn read(&mut self, from: &OwnedFd) {
        self.length = read(from, &mut self.bytes).unwrap_or(0);
    }

    fn values(&self) -> Vec<u64> {
        let (words, _) = self.bytes[..self.length].as_chunks();
        words.iter().map(|&word| u64::from_ne_bytes(word)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{IoSlice, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

    use super::*;

    fn pass_descriptors(to: &UnixStream, descriptors: &[BorrowedFd<'_>]) {
        let mut space = vec![std::mem::MaybeUninit::uninit(); 4096];
        let mut passed = SendAncillaryBuffer::new(&mut space);
        assert!(passed.push(SendAncillaryMessage::ScmRights(descriptors)));
        sendmsg(to, &[IoSlice::new(b"\n")], &mut passed, SendFlags::empty()).unwrap();
    }

    #[test]
    fn readings_of_the_last_phase_are_in_order() {
        let (to, from) = UnixStream::pair().unwrap();
        let (first, second) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
        pass_descriptors(&to, &[first.0.as_fd(), second.0.as_fd()]);
        let (mut counter_fds, byte) = CounterFds::receive(from.as_fd()).unwrap();
        assert_eq!(byte, b'\n');
        for phase in [10_u64, 20] {
            for moment in [1, 2] {
                (&first.1).write_all(&(phase + moment).to_ne_bytes()).unwrap();
                let words = [[phase; 8], [moment; 8]].map(|word| word[0].to_ne_bytes()).concat();
                (&second.1).write_all(&words).unwrap();
                if moment == 1 { counter_fds.read_before() } else { counter_fds.read_after() }
            }
        }
        let readings = counter_fds.readings();
        assert_eq!(readings[0], CounterReading { before: vec![21], after: vec![22] });
        assert_eq!(readings[1], CounterReading { before: vec![20, 1], after: vec![20, 2] });
    }

    #[test]
    fn an_unreadable_descriptor_has_an_empty_reading() {
        let (to, from) = UnixStream::pair().unwrap();
        let (_inlet, outlet) = std::io::pipe().unwrap();
        pass_descriptors(&to, &[outlet.as_fd()]);
        let (mut counter_fds, _) = CounterFds::receive(from.as_fd()).unwrap();
        counter_fds.read_before();
        assert_eq!(counter_fds.readings(), [CounterReading::default()]);
    }

    #[test]
    fn a_closed_socket_is_an_error() {
        let (to, from) = UnixStream::pair().unwrap();
        drop(to);
        assert_eq!(CounterFds::receive(from.as_fd()).unwrap_err(), Errno::PIPE);
    }
}
