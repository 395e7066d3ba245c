//! `futex`: one slot of shared memory, and a futex word to sleep on.

use std::sync::atomic::{AtomicU32, Ordering};

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::Errno;

use super::sleep_flag::SleepFlag;
use super::slot::{Doorbell, DoorbellLocation, SlotEnd, memory_available, open_ends, slot_memory};
use crate::channel::{Blocking, Channel, Documentation, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `futex`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "futex",
    about: "slot in shared memory, signaled by a futex",
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
        how_it_works: "A memfd has one slot for each direction. The sender copies its message into \
            the slot and increments a counter in shared memory. The receiver decrements the \
            counter and copies the message out. A peer that has to wait sets a flag and sleeps on \
            that flag (FUTEX_WAIT). The kernel is entered only to sleep and to wake a sleeping \
            peer. The receiver must empty the slot before the sender can use it again, so the \
            peers alternate and never copy at the same time.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 3.17 (memfd_create).",
        defaults_that_matter: "A peer that has to wait sleeps at once; shm-ring spins first. The \
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

/// Counter in shared memory, and the flag on which the peer sleeps that waits for it. All zero is its initial state.
#[repr(C)]
struct FutexCounter {
    count: AtomicU32,
    sleeper: SleepFlag,
}

/// A doorbell that is such a counter.
#[derive(Clone, Debug)]
pub(super) struct FutexDoorbell {
    pub(super) location: DoorbellLocation,
}

impl FutexDoorbell {
    fn counter(&self) -> &FutexCounter {
        // SAFETY: the memory is aligned to 128 bytes, zero at first, used by this bell alone, and only
        // accessed as these atomics; it lives as long as the spot.
        unsafe { self.location.address().cast().as_ref() }
    }
}

impl Doorbell for FutexDoorbell {
    #[inline]
    fn ring(&self, calls: &mut u64) -> Result<(), Errno> {
        let counter = self.counter();
        counter.count.fetch_add(1, Ordering::Release);
        *calls += u64::from(counter.sleeper.wake()?);
        Ok(())
    }

    #[inline]
    fn wait(&self, calls: &mut u64) -> Result<(), Errno> {
        let FutexCounter { count, sleeper } = self.counter();
        // Only one side takes from each bell, so a count above zero stays there.
        while count.load(Ordering::Acquire) == 0 {
            if self.location.blocking == Blocking::Try {
                return Err(Errno::AGAIN);
            }
            let is_empty = || count.load(Ordering::Acquire) == 0;
            *calls += u64::from(sleeper.sleep_while(is_empty, None));
        }
        count.fetch_sub(1, Ordering::Acquire);
        Ok(())
    }
}
