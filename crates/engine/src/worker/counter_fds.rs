//! Dials: counter descriptors that an instrument hands to a peer, which reads them just before and just after its part
//! of each phase. The instrument interprets the readings.
//!
//! Counters that another process opened are read exactly in this way, whatever they count, and without a call within
//! the timed region.

use std::os::fd::{BorrowedFd, OwnedFd};

use ipcperf_model::DialReading;
use rustix::io::{Errno, read, retry_on_intr};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recvmsg};

/// Maximum number of descriptors per peer: the number the kernel passes at once (`SCM_MAX_FD`).
pub const MOST_DIALS: usize = 253;
/// Maximum number of 8-byte words in one reading.
const WORDS: usize = 64;

/// Descriptors of one peer, with their readings of the last phase.
#[derive(Debug, Default)]
pub(crate) struct Dials(Vec<Dial>);

#[derive(Debug)]
struct Dial {
    descriptor: OwnedFd,
    before: Said,
    after: Said,
}

/// Buffer for one reading, allocated beforehand.
#[derive(Clone, Copy, Debug)]
struct Said {
    bytes: [u8; WORDS * 8],
    length: usize,
}

impl Dials {
    /// Receives the descriptors that are passed with the next byte on the socket `from`, and that byte.
    ///
    /// # Errors
    /// Returns `EPIPE` if the other end is closed, `EMSGSIZE` if more descriptors were passed than there is room for,
    /// and the errors of recvmsg(2).
    pub(crate) fn receive(from: BorrowedFd<'_>) -> Result<(Self, u8), Errno> {
        let (mut byte, mut dials) = ([0], Vec::new());
        let room = rustix::cmsg_space!(ScmRights(MOST_DIALS));
        let mut space = vec![std::mem::MaybeUninit::uninit(); room];
        let mut passed = RecvAncillaryBuffer::new(&mut space);
        let into = &mut [std::io::IoSliceMut::new(&mut byte)];
        let received = retry_on_intr(|| recvmsg(from, into, &mut passed, RecvFlags::CMSG_CLOEXEC))?;
        for message in passed.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                dials.extend(descriptors.map(Dial::of));
            }
        }
        match received.bytes {
            0 => Err(Errno::PIPE),
            _ if received.flags.contains(ReturnFlags::CTRUNC) => Err(Errno::MSGSIZE),
            _ => Ok((Self(dials), byte[0])),
        }
    }

    /// Reads every descriptor before a phase.
    pub(crate) fn read_before(&mut self) {
        self.0.iter_mut().for_each(|dial| dial.before.read(&dial.descriptor));
    }

    /// Reads every descriptor after a phase.
    pub(crate) fn read_after(&mut self) {
        self.0.iter_mut().for_each(|dial| dial.after.read(&dial.descriptor));
    }

    /// Readings of the last phase, in the order in which the descriptors were handed over.
    pub(crate) fn readings(&self) -> Vec<DialReading> {
        let reading =
            |dial: &Dial| DialReading { before: dial.before.words(), after: dial.after.words() };
        self.0.iter().map(reading).collect()
    }
}

impl Dial {
    fn of(descriptor: OwnedFd) -> Self {
        Self { descriptor, before: Said::NOTHING, after: Said::NOTHING }
    }
}

impl Said {
    const NOTHING: Self = Self { bytes: [0; WORDS * 8], length: 0 };

    /// Reads with one call; a failed read leaves an empty reading.
    fn read(&mut self, from: &OwnedFd) {
        self.length = read(from, &mut self.bytes).unwrap_or(0);
    }

    fn words(&self) -> Vec<u64> {
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

    fn hand(to: &UnixStream, descriptors: &[BorrowedFd<'_>]) {
        let mut space = vec![std::mem::MaybeUninit::uninit(); 4096];
        let mut passed = SendAncillaryBuffer::new(&mut space);
        assert!(passed.push(SendAncillaryMessage::ScmRights(descriptors)));
        sendmsg(to, &[IoSlice::new(b"\n")], &mut passed, SendFlags::empty()).unwrap();
    }

    #[test]
    fn what_dials_say_of_the_last_phase_is_told_in_order() {
        let (to, from) = UnixStream::pair().unwrap();
        let (first, second) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
        hand(&to, &[first.0.as_fd(), second.0.as_fd()]);
        let (mut dials, byte) = Dials::receive(from.as_fd()).unwrap();
        assert_eq!(byte, b'\n');
        for phase in [10_u64, 20] {
            for moment in [1, 2] {
                (&first.1).write_all(&(phase + moment).to_ne_bytes()).unwrap();
                let words = [[phase; 8], [moment; 8]].map(|word| word[0].to_ne_bytes()).concat();
                (&second.1).write_all(&words).unwrap();
                if moment == 1 { dials.read_before() } else { dials.read_after() }
            }
        }
        let told = dials.readings();
        assert_eq!(told[0], DialReading { before: vec![21], after: vec![22] });
        assert_eq!(told[1], DialReading { before: vec![20, 1], after: vec![20, 2] });
    }

    #[test]
    fn a_dial_that_cannot_be_read_says_nothing() {
        let (to, from) = UnixStream::pair().unwrap();
        let (_inlet, outlet) = std::io::pipe().unwrap();
        hand(&to, &[outlet.as_fd()]);
        let (mut dials, _) = Dials::receive(from.as_fd()).unwrap();
        dials.read_before();
        assert_eq!(dials.readings(), [DialReading::default()]);
    }

    #[test]
    fn nobody_there_is_told() {
        let (to, from) = UnixStream::pair().unwrap();
        drop(to);
        assert_eq!(Dials::receive(from.as_fd()).unwrap_err(), Errno::PIPE);
    }
}
