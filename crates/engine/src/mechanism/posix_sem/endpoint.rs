//! Implementation of `posix-sem`.

use ipcperf_model::Failure;
use rustix::io::Errno;

use crate::channel::{Blocking, Channel, Mechanism, MeetFn, Opened, Setup};
#[cfg(target_os = "linux")]
use crate::channel::{Granted, Meet, Meeting};
use crate::mechanism::setup_failure::setup_failure;
use crate::mechanism::slot::{
    Doorbell, DoorbellLocation, DoorbellMemory, SlotEnd, open_ends, slot_memory,
};
#[cfg(target_os = "linux")]
use crate::mechanism::slot::{DoorbellOrigin, meet_ends};
use crate::mechanism::waiting::{self, Spinning};
use crate::platform::errno_result;
use crate::platform::memory::shared_memory_available;

/// The part of `posix-sem` that needs Linux or FreeBSD.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: shared_memory_available,
    in_flight_messages: |_| 2,
    execute: waiting::execute::<PosixSem, Spinning>,
    meet: MEET,
    ..Mechanism::BASE
};

/// The memory can be passed to another program where it is a memfd.
#[cfg(target_os = "linux")]
const MEET: Option<MeetFn> = Some(waiting::meet::<PosixSem, Spinning>);
#[cfg(not(target_os = "linux"))]
const MEET: Option<MeetFn> = None;

const _: () = assert!(size_of::<libc::sem_t>() <= size_of::<DoorbellMemory>());

struct PosixSem;

impl Channel for PosixSem {
    type End = SlotEnd<SemaphoreDoorbell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        open_ends(setup, slot_memory(setup)?, SemaphoreDoorbell::new)
    }
}

#[cfg(target_os = "linux")]
impl Meet for PosixSem {
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure> {
        meet_ends(setup, meeting, |spot, origin| match origin {
            DoorbellOrigin::New => SemaphoreDoorbell::new(spot),
            DoorbellOrigin::Passed(_) => Ok(SemaphoreDoorbell { location: spot }),
        })
    }
}

#[derive(Clone, Debug)]
struct SemaphoreDoorbell {
    location: DoorbellLocation,
}

impl SemaphoreDoorbell {
    fn new(spot: DoorbellLocation) -> Result<Self, Failure> {
        let bell = Self { location: spot };
        // SAFETY: the address is that of memory for a semaphore, which is unused.
        errno_result(unsafe { libc::sem_init(bell.address(), 1, 0) })
            .map_err(|e| setup_failure("sem_init", e))?;
        Ok(bell)
    }

    fn address(&self) -> *mut libc::sem_t {
        self.location.address().as_ptr().cast()
    }
}

impl Doorbell for SemaphoreDoorbell {
    #[inline]
    fn ring(&self, _: &mut u64) -> Result<(), Errno> {
        // SAFETY: `new` made the semaphore, in this program or in the other one, and it lives as long as the spot.
        errno_result(unsafe { libc::sem_post(self.address()) }).map(drop)
    }

    #[inline]
    fn wait(&self, calls: &mut u64) -> Result<(), Errno> {
        let tried = self.try_wait(calls);
        if tried != Err(Errno::AGAIN) || self.location.blocking == Blocking::Try {
            return tried;
        }
        *calls += 1;
        // SAFETY: as for `ring`.
        errno_result(unsafe { libc::sem_wait(self.address()) }).map(drop)
    }

    #[inline]
    fn try_wait(&self, _: &mut u64) -> Result<(), Errno> {
        // SAFETY: as for `ring`.
        errno_result(unsafe { libc::sem_trywait(self.address()) }).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::PosixSem;
    use crate::mechanism::waiting::assert_tries_return;

    #[test]
    fn a_try_returns_at_once() {
        assert_tries_return::<PosixSem>();
    }
}
