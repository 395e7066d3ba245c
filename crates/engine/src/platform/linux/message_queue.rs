//! POSIX message queues, whose descriptors are file descriptors.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;

use ipcperf_model::Unavailable;
use rustix::io::Errno;

use super::sysctl::read_sysctl;
use crate::platform::errno_result;
use crate::platform::linux_or_freebsd::message_queue as calls;
pub(crate) use crate::platform::linux_or_freebsd::message_queue::unlink;

/// An open queue.
#[derive(Debug)]
pub(crate) struct MessageQueue(OwnedFd);

impl MessageQueue {
    /// Creates the queue `name`, which only its owner may use, for `messages` messages of `message_bytes` bytes.
    ///
    /// # Errors
    /// Returns the system's error.
    pub(crate) fn create(
        name: &CStr,
        flags: libc::c_int,
        messages: u64,
        message_bytes: u64,
    ) -> Result<Self, Errno> {
        Self::from_raw(calls::create(name, flags, messages, message_bytes)?)
    }

    /// Opens the existing queue `name` to find out about it.
    fn open(name: &CStr) -> Result<Self, Errno> {
        Self::from_raw(calls::open(name))
    }

    fn from_raw(queue: libc::mqd_t) -> Result<Self, Errno> {
        let queue = errno_result(queue)?;
        // SAFETY: the descriptor was just opened and is closed once.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(queue) }))
    }

    /// Takes over the descriptor of a queue that another program has opened.
    pub(crate) fn from_descriptor(queue: OwnedFd) -> Self {
        Self(queue)
    }

    /// Returns the number of messages for which the queue has room.
    pub(crate) fn capacity(&self) -> Result<u64, Errno> {
        // SAFETY: all zero is a valid value of these plain numbers, and the call writes only to this value.
        let facts = unsafe {
            let mut facts: libc::mq_attr = std::mem::zeroed();
            errno_result(libc::mq_getattr(self.0.as_raw_fd(), &raw mut facts))?;
            facts
        };
        u64::try_from(facts.mq_maxmsg).map_err(|_| Errno::INVAL)
    }

    /// Sends `bytes` as one message.
    #[inline]
    pub(crate) fn send(&self, bytes: &[u8]) -> Result<(), Errno> {
        // SAFETY: pointer and length are those of `bytes`.
        let sent =
            unsafe { libc::mq_send(self.0.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
        errno_result(sent).map(drop)
    }

    /// Receives a message into `bytes`, which has room for the longest, and returns its length.
    #[inline]
    pub(crate) fn receive(&self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let (start, most) = (bytes.as_mut_ptr().cast(), bytes.len());
        // SAFETY: pointer and length are those of `bytes`; a null pointer declines the priority.
        let got = unsafe { libc::mq_receive(self.0.as_raw_fd(), start, most, null_mut()) };
        usize::try_from(got).map_err(|_| errno_result(-1).err().unwrap_or(Errno::IO))
    }

    /// Sends like [`MessageQueue::send`], or returns `EAGAIN` if the queue is full, even if calls block.
    #[inline]
    pub(crate) fn try_send(&self, bytes: &[u8]) -> Result<(), Errno> {
        let (queue, start) = (self.0.as_raw_fd(), bytes.as_ptr().cast());
        // SAFETY: pointer and length are those of `bytes`, and the time is a whole one.
        let sent =
            unsafe { libc::mq_timedsend(queue, start, bytes.len(), 0, &raw const calls::PAST) };
        errno_result(sent).map(drop).map_err(calls::would_block)
    }

    /// Receives like [`MessageQueue::receive`], or returns `EAGAIN` if the queue is empty, even if calls block.
    #[inline]
    pub(crate) fn try_receive(&self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let (queue, start, most) = (self.0.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len());
        let past = &raw const calls::PAST;
        // SAFETY: pointer and length are those of `bytes`, the time is a whole one, and a null pointer
        // declines the priority.
        let got = unsafe { libc::mq_timedreceive(queue, start, most, null_mut(), past) };
        usize::try_from(got)
            .map_err(|_| calls::would_block(errno_result(-1).err().unwrap_or(Errno::IO)))
    }

    /// Returns another handle of the queue.
    ///
    /// # Errors
    /// Returns `EMFILE` if no descriptor is left.
    pub(crate) fn try_clone(&self) -> Result<Self, Errno> {
        self.0.try_clone().map(Self).map_err(|_| Errno::MFILE)
    }
}

impl AsFd for MessageQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Returns the user who owns the queue `name`; `None` if no such queue exists or it is not accessible.
pub(crate) fn owner(name: &CStr) -> Option<u32> {
    calls::owner_of(MessageQueue::open(name))
}

/// Upper bound for the bytes that the kernel charges for a queue of one message, in addition to that message.
const QUEUE_OVERHEAD_BYTES: u64 = 512;

/// Returns the size of the largest message, bytes, with the reason.
pub(crate) fn max_message() -> (u64, String) {
    let max_bytes = read_sysctl("fs/mqueue/msgsize_max", 8192);
    // SAFETY: all zero is a valid limit, and the pointer is to a whole one.
    let allowed = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_MSGQUEUE, &raw mut limit);
        limit.rlim_cur
    };
    let half = (allowed / 2).saturating_sub(QUEUE_OVERHEAD_BYTES);
    if max_bytes <= half {
        return (max_bytes, format!("fs.mqueue.msgsize_max is {max_bytes}"));
    }
    (half, format!("RLIMIT_MSGQUEUE is {allowed} bytes for two queues"))
}

/// Number of messages for which a queue has room, unless another number is requested.
pub(crate) fn default_messages() -> u64 {
    read_sysctl("fs/mqueue/msg_default", 10).min(max_messages())
}

/// Largest number of messages for which a queue may have room.
pub(crate) fn max_messages() -> u64 {
    read_sysctl("fs/mqueue/msg_max", 10)
}

/// Checks that this kernel has queues.
///
/// # Errors
/// Returns what is missing.
pub(crate) fn available() -> Result<(), Unavailable> {
    // SAFETY: the name is NUL-terminated, and nothing is created.
    let probed = unsafe { libc::mq_open(c"/ipcperf-probe".as_ptr(), libc::O_RDONLY) };
    match MessageQueue::from_raw(probed) {
        Err(Errno::NOSYS | Errno::PERM) => Err(Unavailable {
            reason: "mq_open: this kernel or a seccomp filter refuses it".to_owned(),
            remedy: "needs CONFIG_POSIX_MQUEUE and a filter that allows mq_open".to_owned(),
        }),
        _ => Ok(()),
    }
}
