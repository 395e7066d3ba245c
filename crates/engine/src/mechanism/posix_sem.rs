//! `posix-sem`: one slot of shared memory, with unnamed POSIX semaphores in it.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::Errno;

use super::refusal::refused;
use super::slot::{Bell, BellMemory, SlotEnd, Spot, ends, memory, memory_available};
use super::sysv::outcome;
use crate::channel::{Blocking, Channel, Documentation, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `posix-sem`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "posix-sem",
    about: "one slot of shared memory in each direction; a POSIX semaphore tells of each message",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Memory,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::NotTold,
    unrelated: Unrelated::No("its memory is inherited or passed on"),
    helper: Helper::Nobody,
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "As futex, with the C library's semaphores (sem_init, shared between \
            processes) in the place of the counters: sem_post for each message, sem_wait to \
            receive one. They are built on futexes and enter the kernel only to sleep and to wake. \
            The C library alone knows when it did: calls are counted as one for each sem_wait that \
            found nothing.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 2.6.0 (futex), 3.17 (memfd_create).",
        defaults_that_matter: "glibc's sem_wait sleeps at once, musl's looks a hundred times \
            first. The kernel holds nothing, so --kernel-buffer does not apply.",
        references: &["man:sem_overview(7)", "man:sem_post(3)", "man:sem_wait(3)"],
    },
    availability: memory_available,
    holds: |_| 2,
    execute: worker::execute::<PosixSem>,
    ..Mechanism::BASE
};

const _: () = assert!(size_of::<libc::sem_t>() <= size_of::<BellMemory>());

struct PosixSem;

impl Channel for PosixSem {
    type End = SlotEnd<SemBell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        ends(setup, memory(setup)?, |spot| {
            let bell = SemBell { spot };
            // SAFETY: the address is that of memory for a semaphore, which is unused.
            outcome(unsafe { libc::sem_init(bell.address(), 1, 0) })
                .map_err(|e| refused("sem_init", e))?;
            Ok(bell)
        })
    }
}

#[derive(Clone, Debug)]
struct SemBell {
    spot: Spot,
}

impl SemBell {
    fn address(&self) -> *mut libc::sem_t {
        self.spot.address().as_ptr().cast()
    }
}

impl Bell for SemBell {
    #[inline]
    fn ring(&self, _: &mut u64) -> Result<(), Errno> {
        // SAFETY: `open` made the semaphore, and it lives as long as the spot.
        outcome(unsafe { libc::sem_post(self.address()) }).map(drop)
    }

    #[inline]
    fn take(&self, calls: &mut u64) -> Result<(), Errno> {
        // SAFETY: as for `ring`.
        let tried = outcome(unsafe { libc::sem_trywait(self.address()) }).map(drop);
        if tried != Err(Errno::AGAIN) || self.spot.blocking == Blocking::Try {
            return tried;
        }
        *calls += 1;
        // SAFETY: as for `ring`.
        outcome(unsafe { libc::sem_wait(self.address()) }).map(drop)
    }
}
