//! `futex`: one slot of shared memory, and a futex word to sleep on.

use std::sync::atomic::{AtomicU32, Ordering, fence};

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::Errno;
use rustix::thread::futex;

use super::slot::{Bell, SlotEnd, Spot, ends, memory, memory_available};
use crate::channel::{Blocking, Channel, Documentation, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `futex`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "futex",
    about: "one slot of shared memory in each direction; a futex tells of each message",
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
        how_it_works: "A memfd holds one slot in each direction. The sender copies its message in \
            and adds one to a counter; the receiver takes one off and copies the message out. Who \
            finds nothing says so and sleeps on the counter (FUTEX_WAIT); the kernel is entered \
            to sleep, and to wake one who sleeps, and for nothing else. The slot must be emptied \
            before the next message: parties take turns, and never copy at once.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 2.6.0 (futex), 3.17 (memfd_create).",
        defaults_that_matter: "A side sleeps at once, without looking for a while as shm-ring \
            does. The kernel holds nothing, so --kernel-buffer does not apply.",
        references: &["man:futex(2)", "man:futex(7)", "man:memfd_create(2)"],
    },
    availability: memory_available,
    holds: |_| 2,
    execute: worker::execute::<Futex>,
    ..Mechanism::BASE
};

struct Futex;

impl Channel for Futex {
    type End = SlotEnd<FutexBell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        ends(setup, memory(setup)?, |spot| Ok(FutexBell { spot }))
    }
}

/// Counter in shared memory, with a flag that says whether the peer sleeps on it.
#[derive(Clone, Debug)]
pub(super) struct FutexBell {
    pub(super) spot: Spot,
}

impl FutexBell {
    fn words(&self) -> &[AtomicU32; 2] {
        // SAFETY: the memory is aligned to 128 bytes, zero at first, used by this bell alone, and only
        // accessed as these atomics; it lives as long as the spot.
        unsafe { self.spot.address().cast().as_ref() }
    }
}

impl Bell for FutexBell {
    #[inline]
    fn ring(&self, calls: &mut u64) -> Result<(), Errno> {
        let [count, sleeps] = self.words();
        count.fetch_add(1, Ordering::Release);
        fence(Ordering::SeqCst);
        if sleeps.load(Ordering::Relaxed) != 0 && sleeps.swap(0, Ordering::Relaxed) != 0 {
            *calls += 1;
            futex::wake(count, futex::Flags::empty(), 1)?;
        }
        Ok(())
    }

    #[inline]
    fn take(&self, calls: &mut u64) -> Result<(), Errno> {
        let [count, sleeps] = self.words();
        // Only one side takes from each bell, so a count above zero stays there.
        while count.load(Ordering::Acquire) == 0 {
            if self.spot.blocking == Blocking::Try {
                return Err(Errno::AGAIN);
            }
            sleeps.store(1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            if count.load(Ordering::Acquire) == 0 {
                *calls += 1;
                // Whatever ends the sleep (a wake, a signal, a changed value): check the count again.
                let _ = futex::wait(count, futex::Flags::empty(), 0, None);
            }
            sleeps.store(0, Ordering::Relaxed);
        }
        count.fetch_sub(1, Ordering::Acquire);
        Ok(())
    }
}
