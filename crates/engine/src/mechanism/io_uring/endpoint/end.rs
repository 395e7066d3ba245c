//! One endpoint: the sends that it holds back, and when it submits them.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::ring::{PendingSend, Registered, Ring};
use crate::channel::Endpoint;

/// One end of the socket.
pub(super) struct UringEnd {
    /// Created by the peer that uses it: rings do not survive a fork.
    ring: Option<Ring>,
    socket: OwnedFd,
    registered: Registered,
    /// Number of sends that are submitted together.
    send_depth: usize,
    /// Sends not yet submitted, oldest first.
    pending: Vec<PendingSend>,
}

impl UringEnd {
    pub(super) fn new(socket: OwnedFd, held_back: usize, registered: Registered) -> Self {
        let pieces = Vec::with_capacity(held_back);
        Self { ring: None, socket, registered, send_depth: held_back, pending: pieces }
    }

    /// Sends everything that is held back, then receives into `into` if given, and returns the number of
    /// bytes received. A send that stopped halfway has cancelled the rest of its chain, so another chain
    /// continues there.
    fn submit(&mut self, mut into: Option<&mut [u8]>) -> Result<usize, Errno> {
        let ring = self.ring.as_mut().ok_or(Errno::BADF)?;
        loop {
            let results = ring.submit(&self.pending, into.as_deref_mut());
            let received = results.get(self.pending.len()).copied();
            if let Err(errno) = remove_sent(&mut self.pending, results) {
                self.pending.clear();
                return Err(errno);
            }
            if self.pending.is_empty() {
                return received.map_or(Ok(0), |result| outcome(result).map(|got| got as usize));
            }
        }
    }
}

/// Removes from `pieces` what was sent.
fn remove_sent(pending: &mut Vec<PendingSend>, results: &[i32]) -> Result<(), Errno> {
    let sent = pending.iter().zip(results);
    let whole = sent.take_while(|(piece, result)| outcome(**result) == Ok(piece.bytes)).count();
    pending.drain(..whole);
    if let Some(broken) = pending.first_mut() {
        match outcome(results[whole]) {
            Ok(bytes) => *broken = broken.remaining(bytes),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        // Had a later send continued, it would have overtaken the rest of this one.
        if results[whole + 1..].iter().any(|result| outcome(*result) != Err(Errno::CANCELED)) {
            return Err(Errno::BADMSG);
        }
    }
    Ok(())
}

fn outcome(result: i32) -> Result<u32, Errno> {
    u32::try_from(result).map_err(|_| Errno::from_raw_os_error(result.saturating_neg()))
}

impl Endpoint for UringEnd {
    const KEEPS_BOUNDARIES: bool = false;
    const BORROWS_SEND_BUFFER: bool = true;

    fn send_buffers_needed(&self) -> usize {
        self.send_depth
    }

    fn prepare(&mut self) -> Result<(), Errno> {
        self.ring = Some(Ring::new(&self.socket, self.send_depth + 1, self.registered)?);
        Ok(())
    }

    fn register_buffers(&mut self, buffers: &[&[u8]]) -> Result<(), Errno> {
        match &mut self.ring {
            Some(ring) if self.registered.buffers() => ring.register(buffers),
            _ => Ok(()),
        }
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        let piece = PendingSend::new(bytes);
        self.pending.push(piece);
        if self.pending.len() == self.send_depth {
            self.submit(None)?;
        }
        Ok(piece.bytes as usize)
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.submit(Some(bytes))
    }

    fn flush(&mut self) -> Result<(), Errno> {
        if self.pending.is_empty() { Ok(()) } else { self.submit(None).map(drop) }
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(self.ring.as_mut().map_or(0, Ring::take_calls))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CANCELED: i32 = -libc::ECANCELED;

    fn after_results(results: &[i32]) -> Result<Vec<u32>, Errno> {
        let bytes = [7_u8; 100];
        let mut pieces = vec![PendingSend::new(&bytes); 3];
        remove_sent(&mut pieces, results)?;
        Ok(pieces.iter().map(|piece| piece.bytes).collect())
    }

    #[test]
    fn what_was_sent_is_taken_off_and_the_rest_stays_in_order() {
        assert_eq!(after_results(&[100, 100, 100]), Ok(vec![]));
        assert_eq!(after_results(&[100, 100, 100, 5]), Ok(vec![]));
        assert_eq!(after_results(&[100, 30, CANCELED, CANCELED]), Ok(vec![70, 100]));
        assert_eq!(after_results(&[-libc::EINTR, CANCELED, CANCELED]), Ok(vec![100, 100, 100]));
        assert_eq!(after_results(&[100, -libc::EPIPE, CANCELED]), Err(Errno::PIPE));
    }

    #[test]
    fn what_overtook_a_broken_send_is_an_error() {
        assert_eq!(after_results(&[30, 100, CANCELED]), Err(Errno::BADMSG));
        assert_eq!(after_results(&[100, 100, 30, 5]), Err(Errno::BADMSG));
    }
}
