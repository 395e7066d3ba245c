//! Implementation of `eventfd`.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use ipcperf_model::{Failure, Unavailable};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use crate::channel::{Blocking, Channel, Granted, Mechanism, Meet, Meeting, Opened, Setup};
use crate::mechanism::setup_failure::setup_failure;
use crate::mechanism::slot::{
    Doorbell, DoorbellOrigin, SlotEnd, meet_ends, open_ends, slot_memory,
};
use crate::mechanism::waiting::{self, Spinning};
use crate::platform::memory::shared_memory_available;
use crate::platform::read_write;

/// The part of `eventfd` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: available,
    in_flight_messages: |_| 2,
    execute: waiting::execute::<Eventfd, Spinning>,
    meet: Some(waiting::meet::<Eventfd, Spinning>),
    ..Mechanism::BASE
};

fn available() -> Result<(), Unavailable> {
    shared_memory_available()?;
    eventfd(0, EventfdFlags::SEMAPHORE).map(drop).map_err(|errno| Unavailable {
        reason: format!("eventfd2: {errno}"),
        remedy: "needs Linux 2.6.30 and a seccomp filter that allows eventfd2".to_owned(),
    })
}

struct Eventfd;

impl Channel for Eventfd {
    type End = SlotEnd<EventfdDoorbell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        open_ends(setup, slot_memory(setup)?, |_| EventfdDoorbell::new(setup))
    }
}

impl Meet for Eventfd {
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure> {
        meet_ends(setup, meeting, |_, origin| match origin {
            DoorbellOrigin::New => EventfdDoorbell::new(setup),
            DoorbellOrigin::Passed(Some(counter)) => {
                Ok(EventfdDoorbell { counter: Arc::new(counter) })
            }
            DoorbellOrigin::Passed(None) => Err(setup_failure("recvmsg", Errno::BADMSG)),
        })
    }
}

#[derive(Clone, Debug)]
struct EventfdDoorbell {
    counter: Arc<OwnedFd>,
}

impl EventfdDoorbell {
    fn new(setup: &Setup<'_>) -> Result<Self, Failure> {
        let mut flags = EventfdFlags::CLOEXEC | EventfdFlags::SEMAPHORE;
        if setup.blocking == Blocking::Try {
            flags |= EventfdFlags::NONBLOCK;
        }
        let counter = eventfd(0, flags).map_err(|e| setup_failure("eventfd2", e))?;
        Ok(Self { counter: Arc::new(counter) })
    }
}

impl Doorbell for EventfdDoorbell {
    #[inline]
    fn ring(&self, calls: &mut u64) -> Result<(), Errno> {
        *calls += 1;
        read_write::write(&*self.counter, &1_u64.to_ne_bytes()).map(drop)
    }

    #[inline]
    fn wait(&self, calls: &mut u64) -> Result<(), Errno> {
        *calls += 1;
        read_write::read(&*self.counter, &mut [0_u8; 8]).map(drop)
    }

    #[inline]
    fn try_wait(&self, calls: &mut u64) -> Result<(), Errno> {
        *calls += 1;
        read_write::try_read(&*self.counter, &mut [0_u8; 8]).map(drop)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.counter.as_fd())
    }
}

#[cfg(test)]
mod tests {
    use super::Eventfd;
    use crate::mechanism::waiting::assert_tries_return;

    #[test]
    fn a_try_returns_at_once() {
        assert_tries_return::<Eventfd>();
    }
}
