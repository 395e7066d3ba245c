//! POSIX message queues, whose descriptors are objects of the C library. They need the kernel module mqueuefs.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

use ipcperf_model::Unavailable;
use rustix::io::Errno;

use crate::platform::errno_result;
use crate::platform::linux_or_freebsd::message_queue as calls;
pub(crate) use crate::platform::linux_or_freebsd::message_queue::unlink;

/// An open queue.
#[derive(Clone, Debug)]
pub(crate) struct MessageQueue(Arc<QueueHandle>);

/// The object of the C library, closed on drop.
#[derive(Debug)]
struct QueueHandle(NonNull<libc::c_void>);

// SAFETY: the object is not changed after it was opened, and the calls on a queue may be made in any thread.
unsafe impl Send for QueueHandle {}
// SAFETY: as for `Send`.
unsafe impl Sync for QueueHandle {}

impl Drop for QueueHandle {
    fn drop(&mut self) {
        // SAFETY: the queue was opened by `from_raw` and is closed once.
        unsafe { libc::mq_close(self.0.as_ptr()) };
    }
}

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

    /// Takes the result of `mq_open`, which is -1 on error.
    fn from_raw(queue: libc::mqd_t) -> Result<Self, Errno> {
        errno_result(if queue.addr() == usize::MAX { -1 } else { 0 })?;
        let queue = NonNull::new(queue).ok_or(Errno::BADF)?;
        #[allow(clippy::arc_with_non_send_sync, reason = "the handle is both")]
        let handle = Arc::new(QueueHandle(queue));
        Ok(Self(handle))
    }

    /// Sends `bytes` as one message.
    #[inline]
    pub(crate) fn send(&self, bytes: &[u8]) -> Result<(), Errno> {
        let queue = self.0.0.as_ptr();
        // SAFETY: pointer and length are those of `bytes`, and the queue is open.
        let sent = unsafe { libc::mq_send(queue, bytes.as_ptr().cast(), bytes.len(), 0) };
        errno_result(sent).map(drop)
    }

    /// Receives a message into `bytes`, which has room for the longest, and returns its length.
    #[inline]
    pub(crate) fn receive(&self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let (start, most) = (bytes.as_mut_ptr().cast(), bytes.len());
        // SAFETY: pointer and length are those of `bytes`, the queue is open, and a null pointer declines the priority.
        let got = unsafe { libc::mq_receive(self.0.0.as_ptr(), start, most, null_mut()) };
        usize::try_from(got).map_err(|_| errno_result(-1).err().unwrap_or(Errno::IO))
    }

    /// Sends like [`MessageQueue::send`], or returns `EAGAIN` if the queue is full, even if calls block.
    #[inline]
    pub(crate) fn try_send(&self, bytes: &[u8]) -> Result<(), Errno> {
        let (queue, start) = (self.0.0.as_ptr(), bytes.as_ptr().cast());
        // SAFETY: pointer and length are those of `bytes`, the queue is open, and the time is a whole one.
        let sent =
            unsafe { libc::mq_timedsend(queue, start, bytes.len(), 0, &raw const calls::PAST) };
        errno_result(sent).map(drop).map_err(calls::would_block)
    }

    /// Receives like [`MessageQueue::receive`], or returns `EAGAIN` if the queue is empty, even if calls block.
    #[inline]
    pub(crate) fn try_receive(&self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let (queue, start, most) = (self.0.0.as_ptr(), bytes.as_mut_ptr().cast(), bytes.len());
        let past = &raw const calls::PAST;
        // SAFETY: pointer and length are those of `bytes`, the queue is open, the time is a whole one, and a null pointer
        // declines the priority.
        let got = unsafe { libc::mq_timedreceive(queue, start, most, null_mut(), past) };
        usize::try_from(got)
            .map_err(|_| calls::would_block(errno_result(-1).err().unwrap_or(Errno::IO)))
    }

    /// Returns another handle of the queue.
    #[allow(clippy::unnecessary_wraps, reason = "may fail on Linux")]
    pub(crate) fn try_clone(&self) -> Result<Self, Errno> {
        Ok(self.clone())
    }
}

impl AsFd for MessageQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor belongs to the object, which is open as long as `self`.
        unsafe { BorrowedFd::borrow_raw(libc::mq_getfd_np(self.0.0.as_ptr())) }
    }
}

/// Returns the user who owns the queue `name`; `None` if no such queue exists or it is not accessible.
pub(crate) fn owner(name: &CStr) -> Option<u32> {
    calls::owner_of(MessageQueue::open(name))
}

/// Returns the size of the largest message, bytes, with the reason.
pub(crate) fn max_message() -> (u64, String) {
    let bytes = setting(c"kern.mqueue.maxmsgsize").unwrap_or(16_384);
    (bytes, format!("kern.mqueue.maxmsgsize is {bytes}"))
}

/// Number of messages for which a queue has room, unless another number is requested.
pub(crate) fn default_messages() -> u64 {
    setting(c"kern.mqueue.default_maxmsg").unwrap_or(10).min(max_messages())
}

/// Largest number of messages for which a queue may have room.
pub(crate) fn max_messages() -> u64 {
    setting(c"kern.mqueue.maxmsg").unwrap_or(100)
}

/// Reads a setting of the kernel, which is a C `int`.
fn setting(name: &CStr) -> Option<u64> {
    let (mut value, mut length) = (0 as libc::c_int, size_of::<libc::c_int>());
    let into = (&raw mut value).cast();
    // SAFETY: the kernel writes at most `length` bytes, the whole of `value`; nothing is set.
    let got = unsafe { libc::sysctlbyname(name.as_ptr(), into, &raw mut length, null_mut(), 0) };
    errno_result(got).ok()?;
    u64::try_from(value).ok()
}

/// Checks that this kernel has queues.
///
/// # Errors
/// Returns what is missing.
pub(crate) fn available() -> Result<(), Unavailable> {
    match MessageQueue::open(c"/ipcperf-probe") {
        Err(Errno::NOSYS | Errno::PERM) => Err(Unavailable {
            reason: "mq_open: this kernel has no message queues".to_owned(),
            remedy: "load the kernel module: kldload mqueuefs".to_owned(),
        }),
        _ => Ok(()),
    }
}
