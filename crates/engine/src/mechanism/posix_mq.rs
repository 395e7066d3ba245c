//! `posix-mq`: POSIX message queues, one in each direction.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode, Unavailable};
use rustix::io::Errno;

use super::kernel_setting::kernel_setting;
use super::refusal::refused;
use super::sysv::outcome;
use crate::buffer::Buffer;
use crate::channel::{
    Blocking, Channel, Descriptors, Documentation, Endpoint, Granted, Limit, Mechanism, Opened,
    Setup,
};
use crate::leftovers::message_queue::{Direction, name};
use crate::leftovers::{RunNames, of_run};
use crate::worker;

/// Facts about `posix-mq`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "posix-mq",
    about: "POSIX message queue, one in each direction",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::NotTold,
    unrelated: Unrelated::Yes,
    helper: Helper::Nobody,
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "mq_send copies a message into the kernel, or straight to a receiver that \
            sleeps; mq_receive takes the oldest of the highest priority, of which there is one \
            here. Either sleeps when the queue is full or empty. The queue is found by a name, \
            which is gone before the parties part.",
        message_boundaries: "Kept: one mq_receive, one message.",
        minimum_kernel: "Linux 2.6.6, with CONFIG_POSIX_MQUEUE.",
        defaults_that_matter: "A message has at most fs.mqueue.msgsize_max (8192) bytes; more \
            needs CAP_SYS_RESOURCE and is not tried. Queues are made for messages of the size in \
            use, fs.mqueue.msg_default (10) of them; --kernel-buffer asks for as many as it holds, \
            at most fs.mqueue.msg_max. Fewer are granted where RLIMIT_MSGQUEUE (819200 bytes for \
            all queues of a user) leaves no more.",
        references: &["man:mq_overview(7)", "man:mq_send(3)", "man:mq_receive(3)"],
    },
    availability: available,
    limit: |_| Some(limit()),
    execute: worker::execute::<PosixMq>,
    ..Mechanism::BASE
};

/// Upper bound for the bytes that the kernel charges for a queue of one message, in addition to that message.
const QUEUE_BYTES: u64 = 512;

fn limit() -> Limit {
    let most = kernel_setting("fs/mqueue/msgsize_max", 8192);
    // SAFETY: all zero is a valid limit, and the pointer is to a whole one.
    let allowed = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_MSGQUEUE, &raw mut limit);
        limit.rlim_cur
    };
    let half = (allowed / 2).saturating_sub(QUEUE_BYTES);
    if most <= half {
        return Limit { bytes: most, because: format!("fs.mqueue.msgsize_max is {most}") };
    }
    Limit { bytes: half, because: format!("RLIMIT_MSGQUEUE is {allowed}, for two queues") }
}

fn available() -> Result<(), Unavailable> {
    // SAFETY: the name is NUL-terminated, and nothing is created.
    match outcome(unsafe { libc::mq_open(c"/ipcperf-probe".as_ptr(), libc::O_RDONLY) }) {
        Err(Errno::NOSYS | Errno::PERM) => Err(Unavailable {
            reason: "mq_open: this kernel or a seccomp filter refuses it".to_owned(),
            remedy: "needs CONFIG_POSIX_MQUEUE and a filter that lets mq_open through".to_owned(),
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
    type End = QueueEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<QueueEnd>, Failure> {
        let names = of_run()?;
        let (there, messages) = queue(setup, &names, Direction::There)?;
        let (back, _) = queue(setup, &names, Direction::Back)?;
        let copy = |queue: &OwnedFd| queue.try_clone().map_err(|_| refused("dup", Errno::MFILE));
        let message_bytes = usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX);
        let end = |out, into| QueueEnd { out, into, message_bytes, spare: None };
        let (sender, receiver) = (end(copy(&there)?, copy(&back)?), end(back, there));
        let granted = Granted { kernel_buffer_bytes: Some(messages * setup.buffer_bytes) };
        Ok(Opened { sender, receiver, granted })
    }
}

/// Creates a queue, already unlinked, and returns it with the number of messages that it holds: as many as
/// requested, or fewer if the limits allow no more.
fn queue(
    setup: &Setup<'_>,
    names: &RunNames,
    direction: Direction,
) -> Result<(OwnedFd, u64), Failure> {
    let usual =
        kernel_setting("fs/mqueue/msg_default", 10).min(kernel_setting("fs/mqueue/msg_max", 10));
    let asked = setup.kernel_buffer_asked_bytes.map(|bytes| bytes / setup.buffer_bytes.max(1));
    let mut messages =
        asked.map_or(usual, |asked| asked.min(kernel_setting("fs/mqueue/msg_max", 10)));
    messages = messages.max(1);
    loop {
        match open(setup, &name(names, direction), messages) {
            Ok(queue) => return Ok((queue, messages)),
            Err(Errno::MFILE) if messages > 1 => messages /= 2,
            Err(errno) => {
                return Err(refused("mq_open", errno)
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
        let queue = OwnedFd::from_raw_fd(outcome(made)?);
        libc::mq_unlink(name.as_ptr());
        Ok(queue)
    }
}

#[derive(Debug)]
struct QueueEnd {
    out: OwnedFd,
    into: OwnedFd,
    message_bytes: usize,
    /// Buffer for a whole message: the kernel requires this size even if a shorter message is expected.
    spare: Option<Buffer>,
}

impl Endpoint for QueueEnd {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        self.spare = Some(Buffer::touched(self.message_bytes, 0)?);
        Ok(())
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        // SAFETY: pointer and length are those of `bytes`.
        let sent =
            unsafe { libc::mq_send(self.out.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
        outcome(sent)?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        if bytes.len() >= self.message_bytes {
            return receive(&self.into, bytes);
        }
        let spare = self.spare.as_mut().ok_or(Errno::INVAL)?;
        let got = receive(&self.into, spare)?;
        bytes.get_mut(..got).ok_or(Errno::MSGSIZE)?.copy_from_slice(&spare[..got]);
        Ok(got)
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        Some(Descriptors { read: self.into.as_fd(), write: self.out.as_fd() })
    }
}

#[inline]
fn receive(queue: &OwnedFd, bytes: &mut [u8]) -> Result<usize, Errno> {
    let (start, most) = (bytes.as_mut_ptr().cast(), bytes.len());
    // SAFETY: pointer and length are those of `bytes`; a null pointer declines the priority.
    let got = unsafe { libc::mq_receive(queue.as_raw_fd(), start, most, null_mut()) };
    usize::try_from(got).map_err(|_| outcome(-1).err().unwrap_or(Errno::IO))
}
