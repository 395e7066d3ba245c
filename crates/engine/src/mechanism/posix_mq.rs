//! `posix-mq`: POSIX message queues, one in each direction.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode, Unavailable};
use rustix::io::Errno;

use super::setup_failure::setup_failure;
use super::sysctl::read_sysctl;
use super::sysv::errno_result;
use crate::buffer::Buffer;
use crate::channel::{
    Blocking, Channel, Descriptors, Documentation, Endpoint, Granted, Limit, Mechanism, Opened,
    Setup,
};
use crate::leftovers::message_queue::{QueueDirection, queue_name};
use crate::leftovers::{RunNames, run_names};
use crate::worker;

/// Facts about `posix-mq`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "posix-mq",
    about: "POSIX message queue, one in each direction",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::Yes,
    helper: Helper::None,
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "mq_send copies a message into the kernel, and mq_receive copies it out. \
            If the receiver already waits, the message is still copied twice. mq_receive returns the oldest message of the \
            highest priority; ipcperf uses only one priority. mq_send sleeps if the queue is full, \
            and mq_receive if it is empty. A program finds a queue by its name; ipcperf removes \
            the name before the peers start.",
        message_boundaries: "Kept: each mq_receive returns one message.",
        minimum_kernel: "Linux 2.6.6, with CONFIG_POSIX_MQUEUE.",
        defaults_that_matter: "A message has at most fs.mqueue.msgsize_max (8192) bytes. Larger \
            messages need CAP_SYS_RESOURCE; ipcperf does not try them. A queue has room for \
            fs.mqueue.msg_default (10) messages of the size in use. With --kernel-buffer, it has \
            room for as many messages as fit into that buffer, at most fs.mqueue.msg_max. It has \
            room for fewer if RLIMIT_MSGQUEUE (819200 bytes for all queues of a user) does not \
            allow more.",
        references: &["man:mq_overview(7)", "man:mq_send(3)", "man:mq_receive(3)"],
    },
    availability: available,
    limit: |_| Some(limit()),
    execute: worker::execute::<PosixMq>,
    ..Mechanism::BASE
};

/// Upper bound for the bytes that the kernel charges for a queue of one message, in addition to that message.
const QUEUE_OVERHEAD_BYTES: u64 = 512;

fn limit() -> Limit {
    let max_bytes = read_sysctl("fs/mqueue/msgsize_max", 8192);
    // SAFETY: all zero is a valid limit, and the pointer is to a whole one.
    let allowed = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_MSGQUEUE, &raw mut limit);
        limit.rlim_cur
    };
    let half = (allowed / 2).saturating_sub(QUEUE_OVERHEAD_BYTES);
    if max_bytes <= half {
        return Limit { bytes: max_bytes, reason: format!("fs.mqueue.msgsize_max is {max_bytes}") };
    }
    Limit { bytes: half, reason: format!("RLIMIT_MSGQUEUE is {allowed}, for two queues") }
}

fn available() -> Result<(), Unavailable> {
    // SAFETY: the name is NUL-terminated, and nothing is created.
    match errno_result(unsafe { libc::mq_open(c"/ipcperf-probe".as_ptr(), libc::O_RDONLY) }) {
        Err(Errno::NOSYS | Errno::PERM) => Err(Unavailable {
            reason: "mq_open: this kernel or a seccomp filter refuses it".to_owned(),
            remedy: "needs CONFIG_POSIX_MQUEUE and a filter that allows mq_open".to_owned(),
        }),
        Ok(queue) => {
            // SAFETY: the descriptor was just opened and is closed once.
            drop(unsafe { OwnedFd::from_raw_fd(queue) });
            Ok(())
        }
        Err(_) => Ok(()),
    }
}

struct PosixMq;

impl Channel for PosixMq {
    type End = PosixMqEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<PosixMqEnd>, Failure> {
        let names = run_names()?;
        let (there, messages) = create_queue(setup, &names, QueueDirection::Forward)?;
        let (back, _) = create_queue(setup, &names, QueueDirection::Reverse)?;
        let copy =
            |queue: &OwnedFd| queue.try_clone().map_err(|_| setup_failure("dup", Errno::MFILE));
        let message_bytes = usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX);
        let end = |out, into| PosixMqEnd {
            outgoing: out,
            incoming: into,
            message_bytes,
            receive_buffer: None,
        };
        let (sender, receiver) = (end(copy(&there)?, copy(&back)?), end(back, there));
        let granted = Granted { kernel_buffer_bytes: Some(messages * setup.buffer_bytes) };
        Ok(Opened { sender, receiver, granted })
    }
}

/// Creates a queue, already unlinked, and returns it with the number of messages that it holds: as many as
/// requested, or fewer if the limits allow no more.
fn create_queue(
    setup: &Setup<'_>,
    names: &RunNames,
    direction: QueueDirection,
) -> Result<(OwnedFd, u64), Failure> {
    let default_messages =
        read_sysctl("fs/mqueue/msg_default", 10).min(read_sysctl("fs/mqueue/msg_max", 10));
    let requested =
        setup.kernel_buffer_requested_bytes.map(|bytes| bytes / setup.buffer_bytes.max(1));
    let mut messages = requested
        .map_or(default_messages, |requested| requested.min(read_sysctl("fs/mqueue/msg_max", 10)));
    messages = messages.max(1);
    loop {
        match open(setup, &queue_name(names, direction), messages) {
            Ok(queue) => return Ok((queue, messages)),
            Err(Errno::MFILE) if messages > 1 => messages /= 2,
            Err(errno) => {
                return Err(setup_failure("mq_open", errno)
                    .with_remedy("raise RLIMIT_MSGQUEUE (ulimit -q) or fs.mqueue.queues_max"));
            }
        }
    }
}

fn open(setup: &Setup<'_>, name: &CStr, messages: u64) -> Result<OwnedFd, Errno> {
    let wait = if setup.blocking == Blocking::Try { libc::O_NONBLOCK } else { 0 };
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC | wait;
    // SAFETY: all zero is a valid value of these plain numbers.
    let mut wanted: libc::mq_attr = unsafe { std::mem::zeroed() };
    let number = |count: u64| libc::c_long::try_from(count).map_err(|_| Errno::INVAL);
    (wanted.mq_maxmsg, wanted.mq_msgsize) = (number(messages)?, number(setup.buffer_bytes)?);
    // SAFETY: the name is NUL-terminated, and with `O_CREAT` the permissions and the attributes follow in
    // this order.
    unsafe {
        let made = libc::mq_open(name.as_ptr(), flags, 0o600 as libc::c_uint, &raw mut wanted);
        let queue = OwnedFd::from_raw_fd(errno_result(made)?);
        libc::mq_unlink(name.as_ptr());
        Ok(queue)
    }
}

#[derive(Debug)]
struct PosixMqEnd {
    outgoing: OwnedFd,
    incoming: OwnedFd,
    message_bytes: usize,
    /// Buffer for a whole message: the kernel requires this size even if a shorter message is expected.
    receive_buffer: Option<Buffer>,
}

impl Endpoint for PosixMqEnd {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        self.receive_buffer = Some(Buffer::new_touched(self.message_bytes, 0)?);
        Ok(())
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        // SAFETY: pointer and length are those of `bytes`.
        let sent = unsafe {
            libc::mq_send(self.outgoing.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0)
        };
        errno_result(sent)?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        if bytes.len() >= self.message_bytes {
            return receive(&self.incoming, bytes);
        }
        let buffer = self.receive_buffer.as_mut().ok_or(Errno::INVAL)?;
        let got = receive(&self.incoming, buffer)?;
        bytes.get_mut(..got).ok_or(Errno::MSGSIZE)?.copy_from_slice(&buffer[..got]);
        Ok(got)
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        Some(Descriptors { read: self.incoming.as_fd(), write: self.outgoing.as_fd() })
    }
}

#[inline]
fn receive(queue: &OwnedFd, bytes: &mut [u8]) -> Result<usize, Errno> {
    let (start, most) = (bytes.as_mut_ptr().cast(), bytes.len());
    // SAFETY: pointer and length are those of `bytes`; a null pointer declines the priority.
    let got = unsafe { libc::mq_receive(queue.as_raw_fd(), start, most, null_mut()) };
    usize::try_from(got).map_err(|_| errno_result(-1).err().unwrap_or(Errno::IO))
}
