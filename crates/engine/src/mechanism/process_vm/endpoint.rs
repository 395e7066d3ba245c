//! Implementation of `process-vm`.

use std::fs::read_to_string;

use ipcperf_model::{Failure, Unavailable};
use rustix::io::Errno;
use rustix::process::getpid;

use crate::channel::{Blocking, Channel, Endpoint, Mechanism, Opened, Setup};
use crate::mechanism::futex_doorbell::FutexDoorbell;
use crate::mechanism::slot::{SlotEnd, open_ends, slot_memory};
use crate::mechanism::waiting::{self, Spinning, TryTransfer};
use crate::platform::errno_result;
use crate::platform::memory::shared_memory_available;

/// The part of `process-vm` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: available,
    execute: waiting::execute::<ProcessVm, Spinning>,
    ..Mechanism::BASE
};

fn available() -> Result<(), Unavailable> {
    shared_memory_available()?;
    let scope = read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let scope = scope.trim().parse().unwrap_or(0);
    if scope >= 2 && !rustix::process::geteuid().is_root() || scope >= 3 {
        return Err(Unavailable {
            reason: format!(
                "kernel.yama.ptrace_scope is {scope}: no process may read another's \
                memory"
            ),
            remedy: "set it to 1 or 0 with sysctl; if it is 3, only a reboot resets it".to_owned(),
        });
    }
    let (from, mut to) = ([1_u8], [0_u8]);
    let here =
        RemoteMessage { pid: getpid().as_raw_nonzero().get(), start: from.as_ptr(), bytes: 1 };
    here.read(&mut to).map(drop).map_err(|errno| Unavailable {
        reason: format!("process_vm_readv: {errno}"),
        remedy: "needs CONFIG_CROSS_MEMORY_ATTACH and a seccomp filter that allows \
            process_vm_readv"
            .to_owned(),
    })
}

/// Location of a message: process, address and length.
#[derive(Clone, Copy)]
#[repr(C)]
struct RemoteMessage {
    pid: i32,
    start: *const u8,
    bytes: usize,
}

impl RemoteMessage {
    /// Copies the message from the sender's memory into `into`.
    #[inline]
    fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        let into = into.get_mut(..self.bytes).ok_or(Errno::MSGSIZE)?;
        let near = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
        let far = libc::iovec { iov_base: self.start.cast_mut().cast(), iov_len: self.bytes };
        // SAFETY: the call writes only to `into`; the kernel checks the addresses that it reads.
        let got = unsafe { libc::process_vm_readv(self.pid, &near, 1, &far, 1, 0) };
        usize::try_from(got).map_err(|_| match errno_result(-1) {
            Err(Errno::SRCH) => Errno::PIPE,
            other => other.err().unwrap_or(Errno::IO),
        })
    }

    fn to_bytes(self) -> [u8; size_of::<[usize; 3]>()] {
        let words = [self.pid.unsigned_abs() as usize, self.start.expose_provenance(), self.bytes];
        let mut bytes = [0; size_of::<[usize; 3]>()];
        for (part, word) in bytes.chunks_exact_mut(size_of::<usize>()).zip(words) {
            part.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, Errno> {
        let word = |index: usize| {
            let at = index * size_of::<usize>();
            let word = bytes.get(at..at + size_of::<usize>()).ok_or(Errno::BADMSG)?;
            word.try_into().map(usize::from_ne_bytes).map_err(|_| Errno::BADMSG)
        };
        let process = i32::try_from(word(0)?).map_err(|_| Errno::BADMSG)?;
        // Never dereferenced here: it is an address in the sender's memory.
        Ok(Self { pid: process, start: std::ptr::without_provenance(word(1)?), bytes: word(2)? })
    }
}

struct ProcessVm;

impl Channel for ProcessVm {
    type End = ProcessVmEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<ProcessVmEnd>, Failure> {
        let slots = Setup { buffer_bytes: size_of::<[usize; 3]>() as u64, ..*setup };
        let opened =
            open_ends(&slots, slot_memory(&slots)?, |spot| Ok(FutexDoorbell { location: spot }))?;
        let end = |slot| ProcessVmEnd { slot, pid: 0, announced: Announced::Nothing, reads: 0 };
        let (sender, receiver) = (end(opened.sender), end(opened.receiver));
        Ok(Opened { sender, receiver, granted: opened.granted })
    }
}

#[derive(Debug)]
struct ProcessVmEnd {
    slot: SlotEnd<FutexDoorbell>,
    pid: i32,
    announced: Announced,
    reads: u64,
}

/// Message of this side in the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Announced {
    Nothing,
    /// The message being sent, which the receiver has not read yet.
    Message,
}

impl ProcessVmEnd {
    /// Announces the message and waits until the receiver has read it from `bytes`: the borrow must not end before. Returns
    /// `EAGAIN` instead of sleeping if `blocking` says so; the next call goes on with the same message.
    #[inline]
    fn send_as(&mut self, blocking: Blocking, bytes: &[u8]) -> Result<usize, Errno> {
        let lane = &mut self.slot.outgoing;
        if self.announced == Announced::Nothing {
            let message =
                RemoteMessage { pid: self.pid, start: bytes.as_ptr(), bytes: bytes.len() };
            lane.put_as(blocking, &message.to_bytes())?;
            self.announced = Announced::Message;
        }
        lane.await_room(blocking)?;
        self.announced = Announced::Nothing;
        Ok(bytes.len())
    }
}

impl Endpoint for ProcessVmEnd {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        self.pid = getpid().as_raw_nonzero().get();
        // SAFETY: the call takes only numbers. Without Yama it fails, and is not needed.
        unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY) };
        self.slot.prepare()
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.send_as(self.slot.outgoing.blocking, bytes)
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.slot.incoming.get(|message| {
            self.reads += 1;
            RemoteMessage::from_bytes(message)?.read(bytes)
        })
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(self.slot.take_calls()? + std::mem::take(&mut self.reads))
    }

    fn close_after_fork(self) {
        self.slot.close_after_fork();
    }
}

impl TryTransfer for ProcessVmEnd {
    #[inline]
    fn try_send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.send_as(Blocking::Try, bytes)
    }

    #[inline]
    fn try_recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.slot.incoming.try_get(|message| {
            self.reads += 1;
            RemoteMessage::from_bytes(message)?.read(bytes)
        })
    }
}
