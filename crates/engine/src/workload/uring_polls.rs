//! Waiting for several descriptors with io_uring: a poll operation on each, of which each completes once.

use std::fmt;
use std::os::fd::RawFd;

use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;

use crate::platform::uring;

/// Polls of the descriptors of all connections.
pub struct UringPolls {
    queues: IoUring,
    descriptors: Vec<RawFd>,
    /// Numbers of the descriptors that are not being polled.
    idle: Vec<usize>,
}

impl UringPolls {
    /// Creates polls of `descriptors`, which must stay open.
    ///
    /// # Errors
    /// Returns the system's error.
    pub(super) fn new(descriptors: Vec<RawFd>) -> Result<Self, Errno> {
        let operations = u32::try_from(descriptors.len().max(1)).map_err(|_| Errno::INVAL)?;
        let idle = (0..descriptors.len()).collect();
        Ok(Self { queues: uring::create(operations)?, descriptors, idle })
    }

    /// Polls the idle descriptors, and waits until some are ready: `ready` gets their numbers. One system call.
    ///
    /// # Errors
    /// Returns the system's error.
    pub(super) fn wait(&mut self, ready: &mut Vec<usize>) -> Result<(), Errno> {
        while let Some(&number) = self.idle.last() {
            let descriptor = types::Fd(self.descriptors[number]);
            #[allow(clippy::cast_sign_loss, reason = "a mask of bits")]
            let poll = opcode::PollAdd::new(descriptor, libc::POLLIN as u32).build();
            // SAFETY: a poll refers to no memory, and the descriptor is open.
            let queued = unsafe { self.queues.submission().push(&poll.user_data(number as u64)) };
            queued.map_err(|_| Errno::NOBUFS)?;
            self.idle.pop();
        }
        self.queues.submit_and_wait(1).map_err(|error| uring::errno(&error))?;
        for completion in self.queues.completion() {
            let number = usize::try_from(completion.user_data()).map_err(|_| Errno::BADMSG)?;
            self.idle.push(number);
            match completion.result() {
                1.. => ready.push(number),
                0 => {}
                error => return Err(Errno::from_raw_os_error(-error)),
            }
        }
        Ok(())
    }
}

impl fmt::Debug for UringPolls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UringPolls").field("descriptors", &self.descriptors).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_descriptor_is_ready_each_time_that_it_has_data() {
        if uring::available().is_err() {
            return;
        }
        let pipes: Vec<_> = (0..3).map(|_| std::io::pipe().unwrap()).collect();
        let descriptors = pipes.iter().map(|pipe| pipe.0.as_raw_fd()).collect();
        let mut polls = UringPolls::new(descriptors).unwrap();
        (&pipes[1].1).write_all(&[1]).unwrap();
        // What is not read stays ready.
        for _ in 0..2 {
            let mut ready = Vec::new();
            polls.wait(&mut ready).unwrap();
            assert_eq!(ready, [1]);
        }
        (&pipes[2].1).write_all(&[1]).unwrap();
        let mut ready = Vec::new();
        while ready.len() < 2 {
            ready.clear();
            polls.wait(&mut ready).unwrap();
        }
        ready.sort_unstable();
        assert_eq!(ready, [1, 2]);
    }
}
