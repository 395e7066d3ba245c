//! `eventfd`: one slot of shared memory, and a kernel counter as the doorbell.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode, Unavailable};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use super::refusal::refused;
use super::slot::{Bell, SlotEnd, ends, memory, memory_available};
use crate::channel::{Blocking, Channel, Documentation, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `eventfd`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "eventfd",
    about: "one slot of shared memory in each direction; an eventfd tells of each message",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::RungMemory,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::NotTold,
    unrelated: Unrelated::No("descriptors are inherited or passed on"),
    helper: Helper::Nobody,
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A memfd holds one slot in each direction. The sender copies its message in \
            and writes 1 to an eventfd; the receiver reads that and copies the message out. A \
            second eventfd tells a sender that waits for room. Unlike a futex it is a descriptor, \
            which can be polled beside others, and so it costs a call whether or not the other \
            sleeps.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 2.6.30 (EFD_SEMAPHORE), 3.17 (memfd_create).",
        defaults_that_matter: "EFD_SEMAPHORE: each read takes one ring. The kernel holds no \
            payload, so --kernel-buffer does not apply.",
        references: &["man:eventfd(2)", "man:memfd_create(2)"],
    },
    availability: available,
    holds: |_| 2,
    execute: worker::execute::<Eventfd>,
    ..Mechanism::BASE
};

fn available() -> Result<(), Unavailable> {
    memory_available()?;
    eventfd(0, EventfdFlags::SEMAPHORE).map(drop).map_err(|errno| Unavailable {
        reason: format!("eventfd2: {errno}"),
        remedy: "needs Linux 2.6.30 and a seccomp filter that lets eventfd2 through".to_owned(),
    })
}

struct Eventfd;

impl Channel for Eventfd {
    type End = SlotEnd<EventfdBell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let mut flags = EventfdFlags::CLOEXEC | EventfdFlags::SEMAPHORE;
        if setup.blocking == Blocking::Try {
            flags |= EventfdFlags::NONBLOCK;
        }
        ends(setup, memory(setup)?, |_| {
            let counter = eventfd(0, flags).map_err(|e| refused("eventfd2", e))?;
            Ok(EventfdBell { counter: Arc::new(counter) })
        })
    }
}

#[derive(Clone, Debug)]
struct EventfdBell {
    counter: Arc<OwnedFd>,
}

impl Bell for EventfdBell {
    #[inline]
    fn ring(&self, calls: &mut u64) -> Result<(), Errno> {
        *calls += 1;
        rustix::io::write(&*self.counter, &1_u64.to_ne_bytes()).map(drop)
    }

    #[inline]
    fn take(&self, calls: &mut u64) -> Result<(), Errno> {
        *calls += 1;
        rustix::io::read(&*self.counter, &mut [0_u8; 8]).map(drop)
    }
}
