//! `dbus-memfd`: D-Bus messages that carry a memfd with the payload.

use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::Failure;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use rustix::io::Errno;
use zbus::Message;
use zbus::message::{Body, Builder};
use zbus::zvariant::Fd;

use super::dbus::{self, Carrier, VIA, errno};
use super::mapping::{Access, Mapping};
use super::memfd::{self, Filled};
use super::shm_ring::available;
use crate::channel::{Documentation, Mechanism, OptionSpec, OptionValues, Setup};

/// Option that selects new or reused memfds.
const MEMFD: OptionSpec = OptionSpec {
    name: "memfd",
    about: "a new memfd for each message, or some in turn that are acknowledged",
    values: OptionValues::OneOf(&["fresh", "reused"]),
    default: "reused",
};

/// Option that selects how the receiver accesses a memfd.
const MAP: OptionSpec = OptionSpec {
    name: "map",
    about: "how the receiver gets at it: a mapping each time, or one that is kept",
    values: OptionValues::OneOf(&["each", "cached"]),
    default: "cached",
};

/// Facts about `dbus-memfd`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "dbus-memfd",
    about: "D-Bus method call with a sealed memfd in its body (zbus); copies in and out",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::SenderTold,
    unrelated: Unrelated::Yes,
    helper: Helper::Broker,
    options: &[VIA, MEMFD, MAP],
    modes: &dbus::MODES,
    documentation: Documentation {
        how_it_works: "As dbus-copy, but the message is copied into a memfd, and the body of the call \
            holds its descriptor, its length and a number (`htu`); the receiver maps it and copies it \
            out, so that every byte is its own. A daemon passes the descriptor on and never sees the \
            payload. memfd=fresh: memfd_create, write, seal against any change, for each message. \
            memfd=reused: as many memfds as calls may be out, kept mapped by the sender and taken in \
            turn; a reply says which are free again. map=cached keeps the receiver's mappings and \
            knows a memfd by its number; a fresh one it has to map each time.",
        message_boundaries: "Kept: one call, one memfd, one message.",
        minimum_kernel: "Linux 3.17 (memfd_create); 5.1 for the seal against future writing. \
            via=daemon needs dbus-daemon, via=broker dbus-broker 32 or newer.",
        defaults_that_matter: "A reused memfd is sealed with F_SEAL_SHRINK, GROW and FUTURE_WRITE: \
            the receiver can neither be surprised by a shorter file (SIGBUS) nor write to it. It can \
            still see it change, for the sender's own mapping, made before, stays writable: a weaker \
            promise than kdbus gave, whose seal stopped the sender too, and the reason why the \
            receiver copies. zbus duplicates the descriptor for each message. Calls of the system are \
            the library's, and not counted. --kernel-buffer does not apply.",
        references: &[
            "[D-Bus specification](https://dbus.freedesktop.org/doc/dbus-specification.html)",
            "man:memfd_create(2)",
            "man:fcntl(2), F_ADD_SEALS",
            "[zbus](https://docs.rs/zbus)",
        ],
    },
    availability: available,
    holds: |_| 4,
    library: Some(dbus::ZBUS),
    execute: dbus::execute::<Referred>,
    ..Mechanism::BASE
};

/// Carrier that puts a memfd into the body.
#[derive(Debug)]
struct Referred {
    supply: Supply,
    reach: Reach,
    message_bytes: usize,
}

/// Source of the memfds for messages.
#[derive(Debug)]
enum Supply {
    /// A new memfd for each message.
    Fresh,
    /// These memfds in turn, and the index of the next one.
    Reused(Vec<Filled>, usize),
}

/// Method by which the receiver reads the payload.
#[derive(Debug)]
enum Reach {
    Map,
    /// Mappings of the memfds seen so far, indexed by number.
    Cached(Vec<Option<Mapping>>),
}

impl Supply {
    fn of(setup: &Setup<'_>, count: usize, bytes: usize) -> Result<Self, Failure> {
        if setup.option(&MEMFD) == "fresh" {
            return Ok(Self::Fresh);
        }
        Ok(Self::Reused(memfd::lasting(count, bytes)?, 0))
    }
}

impl Reach {
    fn of(setup: &Setup<'_>, count: usize) -> Self {
        match (setup.option(&MAP), setup.option(&MEMFD)) {
            ("each", _) | (_, "fresh") => Self::Map,
            _ => Self::Cached((0..count).map(|_| None).collect()),
        }
    }

    /// Fills `bytes` from `memfd`, which the sender numbers `number`.
    fn fetch(
        &mut self,
        memfd: &Fd<'_>,
        number: usize,
        whole: usize,
        bytes: &mut [u8],
    ) -> Result<(), Errno> {
        match self {
            Self::Map => Mapping::of(memfd, bytes.len(), Access::Read)?.copy_out(0, bytes),
            Self::Cached(kept) => {
                let kept = kept.get_mut(number).ok_or(Errno::BADMSG)?;
                if kept.is_none() {
                    *kept = Some(Mapping::of(memfd, whole, Access::Read)?);
                }
                kept.as_ref().ok_or(Errno::BADMSG)?.copy_out(0, bytes);
            }
        }
        Ok(())
    }
}

impl Carrier for Referred {
    fn of(setup: &Setup<'_>, sends: usize, receives: usize) -> Result<Self, Failure> {
        let message_bytes = usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 2);
        let supply = Supply::of(setup, sends, message_bytes)?;
        Ok(Self { supply, reach: Reach::of(setup, receives), message_bytes })
    }

    fn prepare(&mut self) -> Result<(), Errno> {
        match &self.supply {
            Supply::Fresh => Ok(()),
            Supply::Reused(memfds, _) => {
                memfds.iter().try_for_each(|memfd| memfd.mapping.populate())
            }
        }
    }

    #[inline]
    fn load(&mut self, envelope: Builder<'_>, bytes: &[u8]) -> Result<Message, Errno> {
        let body = |memfd: &OwnedFd, number: usize| {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            envelope.build(&(Fd::from(memfd.as_fd()), bytes.len() as u64, number)).map_err(errno)
        };
        match &mut self.supply {
            Supply::Fresh => body(&memfd::sealed(bytes, &mut 0)?, 0),
            Supply::Reused(memfds, next) => {
                let number = *next;
                let memfd = memfds.get(number).ok_or(Errno::PROTO)?;
                memfd.mapping.copy_in(0, bytes);
                *next = (number + 1) % memfds.len();
                body(&memfd.file, number)
            }
        }
    }

    #[inline]
    fn unload(&mut self, body: &Body, into: &mut [u8]) -> Result<usize, Errno> {
        let (memfd, length, number): (Fd<'_>, u64, u32) = body.deserialize().map_err(errno)?;
        let length = usize::try_from(length).map_err(|_| Errno::MSGSIZE)?;
        let into = into.get_mut(..length).ok_or(Errno::MSGSIZE)?;
        self.reach.fetch(&memfd, number as usize, self.message_bytes, into)?;
        Ok(length)
    }
}
