//! `process-vm`: the receiver reads from the sender's memory.

use std::fs::read_to_string;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode, Unavailable};
use rustix::io::Errno;
use rustix::process::getpid;

use super::futex::FutexBell;
use super::slot::{SlotEnd, ends, memory, memory_available};
use super::sysv::outcome;
use crate::channel::{Channel, Documentation, Endpoint, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `process-vm`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "process-vm",
    about: "process_vm_readv: the receiver copies out of the sender's memory",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Reach,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::NotTold,
    unrelated: Unrelated::No("reading another's memory needs his user, or CAP_SYS_PTRACE"),
    helper: Helper::Nobody,
    modes: &[Mode::TwoThreads, Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "The sender says in a small slot of shared memory where its message is and \
            how long; the receiver has the kernel copy it from there, once, straight to where it \
            is wanted, and empties the slot. Until then the sender waits, since its buffer is \
            being read. Both wait as futex does. One thread cannot wait for itself: there is no \
            1thread.",
        message_boundaries: "Kept: one announcement, one message.",
        minimum_kernel: "Linux 3.2 (process_vm_readv), 3.17 (memfd_create).",
        defaults_that_matter: "The reader must be allowed to trace the sender: same user, and \
            where Yama is set to 1 by the sender's leave (PR_SET_PTRACER), which it gives. The \
            kernel holds nothing, so --kernel-buffer does not apply.",
        references: &["man:process_vm_readv(2)", "man:ptrace(2)", "man:prctl(2), PR_SET_PTRACER"],
    },
    availability: available,
    execute: worker::execute::<ProcessVm>,
    ..Mechanism::BASE
};

fn available() -> Result<(), Unavailable> {
    memory_available()?;
    let scope = read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let scope = scope.trim().parse().unwrap_or(0);
    if scope >= 2 && !rustix::process::geteuid().is_root() || scope >= 3 {
        return Err(Unavailable {
            reason: format!("kernel.yama.ptrace_scope is {scope}: no process may read another's"),
            remedy: "set it to 1 or 0 with sysctl; from 3 only a restart leads back".to_owned(),
        });
    }
    let (from, mut to) = ([1_u8], [0_u8]);
    let here = Message { process: getpid().as_raw_nonzero().get(), start: from.as_ptr(), bytes: 1 };
    here.read(&mut to).map(drop).map_err(|errno| Unavailable {
        reason: format!("process_vm_readv: {errno}"),
        remedy: "needs CONFIG_CROSS_MEMORY_ATTACH and a seccomp filter that lets it through"
            .to_owned(),
    })
}

/// Location of a message: process, address and length.
#[derive(Clone, Copy)]
#[repr(C)]
struct Message {
    process: i32,
    start: *const u8,
    bytes: usize,
}

impl Message {
    /// Copies the message from the sender's memory into `into`.
    #[inline]
    fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        let into = into.get_mut(..self.bytes).ok_or(Errno::MSGSIZE)?;
        let near = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
        let far = libc::iovec { iov_base: self.start.cast_mut().cast(), iov_len: self.bytes };
        // SAFETY: the call writes only to `into`; the kernel checks the addresses that it reads.
        let got = unsafe { libc::process_vm_readv(self.process, &near, 1, &far, 1, 0) };
        usize::try_from(got).map_err(|_| match outcome(-1) {
            Err(Errno::SRCH) => Errno::PIPE,
            other => other.err().unwrap_or(Errno::IO),
        })
    }

    fn as_bytes(&self) -> [u8; size_of::<[usize; 3]>()] {
        let words =
            [self.process.unsigned_abs() as usize, self.start.expose_provenance(), self.bytes];
        let mut bytes = [0; size_of::<[usize; 3]>()];
        for (part, word) in bytes.chunks_exact_mut(size_of::<usize>()).zip(words) {
            part.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    fn of_bytes(bytes: &[u8]) -> Result<Self, Errno> {
        let word = |index: usize| {
            let at = index * size_of::<usize>();
            let word = bytes.get(at..at + size_of::<usize>()).ok_or(Errno::BADMSG)?;
            word.try_into().map(usize::from_ne_bytes).map_err(|_| Errno::BADMSG)
        };
        let process = i32::try_from(word(0)?).map_err(|_| Errno::BADMSG)?;
        // Never dereferenced here: it is an address in the sender's memory.
        Ok(Self { process, start: std::ptr::without_provenance(word(1)?), bytes: word(2)? })
    }
}

struct ProcessVm;

impl Channel for ProcessVm {
    type End = ProcessVmEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<ProcessVmEnd>, Failure> {
        let slots = Setup { buffer_bytes: size_of::<[usize; 3]>() as u64, ..*setup };
        let opened = ends(&slots, memory(&slots)?, |spot| Ok(FutexBell { spot }))?;
        let end = |slot| ProcessVmEnd { slot, process: 0, reads: 0 };
        let (sender, receiver) = (end(opened.sender), end(opened.receiver));
        Ok(Opened { sender, receiver, granted: opened.granted })
    }
}

#[derive(Debug)]
struct ProcessVmEnd {
    slot: SlotEnd<FutexBell>,
    process: i32,
    reads: u64,
}

impl Endpoint for ProcessVmEnd {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        self.process = getpid().as_raw_nonzero().get();
        // SAFETY: the call takes only numbers. Without Yama it fails, and is not needed.
        unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY) };
        self.slot.prepare()
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        let message = Message { process: self.process, start: bytes.as_ptr(), bytes: bytes.len() };
        self.slot.out.put(&message.as_bytes())?;
        // The receiver reads from `bytes`, so the borrow must not end before it has finished.
        self.slot.out.await_room()?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.slot.into.get(|message| {
            self.reads += 1;
            Message::of_bytes(message)?.read(bytes)
        })
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(self.slot.take_calls()? + std::mem::take(&mut self.reads))
    }

    fn disown(self) {
        self.slot.disown();
    }
}
