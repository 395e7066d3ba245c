//! `posix-sem`: one slot of shared memory, with unnamed POSIX semaphores in it.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::Errno;

use super::setup_failure::setup_failure;
use super::slot::{
    Doorbell, DoorbellLocation, DoorbellMemory, SlotEnd, memory_available, open_ends, slot_memory,
};
use super::sysv::errno_result;
use crate::channel::{Blocking, Channel, Documentation, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `posix-sem`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "posix-sem",
    about: "slot in shared memory, signaled by POSIX semaphores",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Memory,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::No("its memory must be inherited or passed"),
    helper: Helper::None,
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "The same as futex, but with semaphores of the C library (sem_init, shared \
            between processes) instead of the counters. The sender calls sem_post for each \
            message, and the receiver calls sem_wait. The semaphores are built on futexes and \
            enter the kernel only to sleep and to wake a sleeping peer. Only the C library knows \
            when it enters the kernel, so ipcperf counts one call for each sem_wait that has to \
            wait.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 3.17 (memfd_create).",
        defaults_that_matter: "The sem_wait of glibc sleeps at once; that of musl spins a hundred \
            times first. The kernel buffers nothing, so --kernel-buffer does not apply.",
        references: &["man:sem_overview(7)", "man:sem_post(3)", "man:sem_wait(3)"],
    },
    availability: memory_available,
    in_flight_messages: |_| 2,
    execute: worker::execute::<PosixSem>,
    ..Mechanism::BASE
};

const _: () = assert!(size_of::<libc::sem_t>() <= size_of::<DoorbellMemory>());

struct PosixSem;

impl Channel for PosixSem {
    type End = SlotEnd<SemaphoreDoorbell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        open_ends(setup, slot_memory(setup)?, |spot| {
            let bell = SemaphoreDoorbell { location: spot };
            // SAFETY: the address is that of memory for a semaphore, which is unused.
            errno_result(unsafe { libc::sem_init(bell.address(), 1, 0) })
                .map_err(|e| setup_failure("sem_init", e))?;
            Ok(bell)
        })
    }
}

#[derive(Clone, Debug)]
struct SemaphoreDoorbell {
    location: DoorbellLocation,
}

impl SemaphoreDoorbell {
    fn address(&self) -> *mut libc::sem_t {
        self.location.address().as_ptr().cast()
    }
}

impl Doorbell for SemaphoreDoorbell {
    #[inline]
    fn ring(&self, _: &mut u64) -> Result<(), Errno> {
        // SAFETY: `open` made the semaphore, and it lives as long as the spot.
        errno_result(unsafe { libc::sem_post(self.address()) }).map(drop)
    }

    #[inline]
    fn wait(&self, calls: &mut u64) -> Result<(), Errno> {
        // SAFETY: as for `ring`.
        let tried = errno_result(unsafe { libc::sem_trywait(self.address()) }).map(drop);
        if tried != Err(Errno::AGAIN) || self.location.blocking == Blocking::Try {
            return tried;
        }
        *calls += 1;
        // SAFETY: as for `ring`.
        errno_result(unsafe { libc::sem_wait(self.address()) }).map(drop)
    }
}
