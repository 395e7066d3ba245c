//! `futex`: one slot of shared memory, and a futex word to sleep on.

use std::sync::atomic::{AtomicU32, Ordering, fence};

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::Errno;
use rustix::thread::futex;

use super::slot::{Doorbell, DoorbellLocation, SlotEnd, memory_available, open_ends, slot_memory};
use crate::channel::{Blocking, Channel, Documentation, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `futex`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "futex",
    about: "one slot of shared memory in each direction; a futex announces each message",
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
        how_it_works: "A memfd has one slot in each direction. The sender copies its message into \
            the slot and increments a counter; the receiver decrements it and copies the message \
            out. A peer that finds nothing sets a flag and sleeps on the counter (FUTEX_WAIT). The \
            kernel is entered only to sleep and to wake a sleeping peer. The slot must be emptied \
            before the next message, so the peers alternate and never copy at the same time.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 2.6.0 (futex), 3.17 (memfd_create).",
        defaults_that_matter: "A peer sleeps at once, without spinning first as shm-ring does. The \
            kernel buffers nothing, so --kernel-buffer does not apply.",
        references: &["man:futex(2)", "man:futex(7)", "man:memfd_create(2)"],
    },
    availability: memory_available,
    in_flight_messages: |_| 2,
    execute: worker::execute::<Futex>,
    ..Mechanism::BASE
};

struct Futex;

impl Channel for Futex {
    type End = SlotEnd<FutexDoorbell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        open_ends(setup, slot_memory(setup)?, |spot| Ok(FutexDoorbell { location: spot }))
    }
}

/// Counter in shared memory, with a flag that says whether the peer sleeps on it.
#[derive(Clone, Debug)]
pub(super) struct FutexDoorbell {
    pub(super) location: DoorbellLocation,
}

impl FutexDoorbell {
    fn atomics(&self) -> &[AtomicU32; 2] {
        // SAFETY: the memory is aligned to 128 bytes, zero at first, used by this bell alone, and only
        // accessed as these atomics; it lives as long as the spot.
        unsafe { self.location.address().cast().as_ref() }
    }
}

impl Doorbell for FutexDoorbell {
    #[inline]
    fn ring(&self, calls: &mut u64) -> Result<(), Errno> {
        let [count, sleeps] = self.atomics();
        count.fetch_add(1, Ordering::Release);
        fence(Ordering::SeqCst);
        if sleeps.load(Ordering::Relaxed) != 0 && sleeps.swap(0, Ordering::Relaxed) != 0 {
            *calls += 1;
            futex::wake(count, futex::Flags::empty(), 1)?;
        }
        Ok(())
    }

    #[inline]
    fn wait(&self, calls: &mut u64) -> Result<(), Errno> {
        let [count, sleeps] = self.atomics();
        // Only one side takes from each bell, so a count above zero stays there.
        while count.load(Ordering::Acquire) == 0 {
            if self.location.blocking == Blocking::Try {
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
