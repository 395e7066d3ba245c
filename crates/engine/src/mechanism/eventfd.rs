//! `eventfd`: one slot of shared memory, and a kernel counter as the doorbell.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode, Unavailable};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use super::setup_failure::setup_failure;
use super::slot::{Doorbell, SlotEnd, memory_available, open_ends, slot_memory};
use crate::channel::{Blocking, Channel, Documentation, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `eventfd`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "eventfd",
    about: "slot in shared memory, signaled by an eventfd",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::SharedMemoryWithDoorbell,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A memfd has one slot for each direction. The sender copies its message into \
            the slot and writes 1 to an eventfd. The receiver reads the eventfd and copies the \
            message out. A second eventfd wakes a sender that waits for the slot to become free. \
            Unlike a futex, an eventfd is a descriptor, so a program can poll it together with \
            other descriptors. In return, it costs a call whether or not the other peer sleeps.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 3.17 (memfd_create).",
        defaults_that_matter: "EFD_SEMAPHORE is set: each read consumes one notification. The \
            kernel buffers no payload, so --kernel-buffer does not apply.",
        references: &["man:eventfd(2)", "man:memfd_create(2)"],
    },
    availability: available,
    in_flight_messages: |_| 2,
    execute: worker::execute::<Eventfd>,
    ..Mechanism::BASE
};

fn available() -> Result<(), Unavailable> {
    memory_available()?;
    eventfd(0, EventfdFlags::SEMAPHORE).map(drop).map_err(|errno| Unavailable {
        reason: format!("eventfd2: {errno}"),
        remedy: "needs Linux 2.6.30 and a seccomp filter that allows eventfd2".to_owned(),
    })
}

struct Eventfd;

impl Channel for Eventfd {
    type End = SlotEnd<EventfdDoorbell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let mut flags = EventfdFlags::CLOEXEC | EventfdFlags::SEMAPHORE;
        if setup.blocking == Blocking::Try {
            flags |= EventfdFlags::NONBLOCK;
        }
        open_ends(setup, slot_memory(setup)?, |_| {
            let counter = eventfd(0, flags).map_err(|e| setup_failure("eventfd2", e))?;
            Ok(EventfdDoorbell { counter: Arc::new(counter) })
        })
    }
}

#[derive(Clone, Debug)]
struct EventfdDoorbell {
    counter: Arc<OwnedFd>,
}

impl Doorbell for EventfdDoorbell {
    #[inline]
    fn ring(&self, calls: &mut u64) -> Result<(), Errno> {
        *calls += 1;
        rustix::io::write(&*self.counter, &1_u64.to_ne_bytes()).map(drop)
    }

    #[inline]
    fn wait(&self, calls: &mut u64) -> Result<(), Errno> {
        *calls += 1;
        rustix::io::read(&*self.counter, &mut [0_u8; 8]).map(drop)
    }
}
