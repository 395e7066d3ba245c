//! `dbus-memfd`: D-Bus messages that carry a memfd with the payload.

use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::Failure;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use rustix::io::Errno;
use zbus::Message;
use zbus::message::{Body, Builder};
use zbus::zvariant::Fd;

use super::dbus::{self, BodyCodec, VIA, errno};
use super::mapping::{Access, Mapping};
use super::memfd::{self, MappedMemfd};
use super::shm_ring::available;
use crate::channel::{Documentation, Mechanism, OptionSpec, OptionValues, Setup};

/// Option that selects new or reused memfds.
const MEMFD: OptionSpec = OptionSpec {
    name: "memfd",
    about: "fresh: a new memfd for each message; reused: several memfds in rotation, with \
        acknowledgment",
    values: OptionValues::OneOf(&["fresh", "reused"]),
    default: "reused",
};

/// Option that selects how the receiver accesses a memfd.
const MAP: OptionSpec = OptionSpec {
    name: "map",
    about: "each: map the memfd of every message; cached: keep the mappings of reused memfds",
    values: OptionValues::OneOf(&["each", "cached"]),
    default: "cached",
};

/// Facts about `dbus-memfd`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "dbus-memfd",
    about: "D-Bus method call that carries a sealed memfd (zbus)",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::ErrorOnSend,
    unrelated: Unrelated::Yes,
    helper: Helper::Broker,
    options: &[VIA, MEMFD, MAP],
    modes: &dbus::MODES,
    documentation: Documentation {
        how_it_works: "The same as dbus-copy, but the sender copies the message into a memfd. The \
            body of the call contains the memfd's descriptor, the length of the message, and the \
            number of the memfd (D-Bus signature `htu`). The receiver maps the memfd and copies the message out \
            into its own memory. A daemon forwards the descriptor and never reads the payload.\n\n\
            - memfd=fresh: for each message, the sender creates a memfd, writes the message into \
            it and seals it against any change.\n\
            - memfd=reused: the sender keeps as many memfds mapped as calls may be in flight, and \
            uses them in rotation. The replies show it which memfds are free again.\n\
            - map=each: the receiver maps the memfd of every message.\n\
            - map=cached: the receiver keeps the mapping of each reused memfd and recognizes the \
            memfd by its number. It has to map a fresh memfd each time.",
        message_boundaries: "Kept: each call carries one memfd, which contains one message.",
        minimum_kernel: "Linux 3.17 (memfd_create). Since 5.1, reused memfds also have the seal \
            F_SEAL_FUTURE_WRITE. via=daemon needs dbus-daemon, and via=broker needs dbus-broker 32 \
            or newer.",
        defaults_that_matter: "A reused memfd is sealed with F_SEAL_SHRINK, F_SEAL_GROW and \
            F_SEAL_FUTURE_WRITE. The memfd therefore cannot shrink, so the receiver cannot get \
            SIGBUS, and the receiver cannot write to it. The sender can still change the memfd \
            through the mapping that it made before sealing, so the receiver copies the message. \
            (The seal of kdbus, a D-Bus transport inside the kernel, stopped the sender too.) zbus \
            duplicates the descriptor for each message. The library makes the system calls itself, \
            so ipcperf does not count them. --kernel-buffer does not apply.",
        references: &[
            "[D-Bus specification](https://dbus.freedesktop.org/doc/dbus-specification.html)",
            "man:memfd_create(2)",
            "man:fcntl(2), F_ADD_SEALS",
            "[zbus](https://docs.rs/zbus)",
        ],
    },
    availability: available,
    in_flight_messages: |_| 4,
    library: Some(dbus::ZBUS),
    execute: dbus::execute::<MemfdBody>,
    ..Mechanism::BASE
};

/// Carrier that puts a memfd into the body.
#[derive(Debug)]
struct MemfdBody {
    source: BodyMemfdSource,
    read_method: BodyReadMethod,
    message_bytes: usize,
}

/// Source of the memfds for messages.
#[derive(Debug)]
enum BodyMemfdSource {
    /// A new memfd for each message.
    Fresh,
    /// These memfds in turn, and the index of the next one.
    Reused(Vec<MappedMemfd>, usize),
}

/// Method by which the receiver reads the payload.
#[derive(Debug)]
enum BodyReadMethod {
    Map,
    /// Mappings of the memfds seen so far, indexed by number.
    Cached(Vec<Option<Mapping>>),
}

impl BodyMemfdSource {
    fn from_setup(setup: &Setup<'_>, count: usize, bytes: usize) -> Result<Self, Failure> {
        if setup.option(&MEMFD) == "fresh" {
            return Ok(Self::Fresh);
        }
        Ok(Self::Reused(memfd::create_reusable(count, bytes)?, 0))
    }
}

impl BodyReadMethod {
    fn from_setup(setup: &Setup<'_>, count: usize) -> Self {
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
            Self::Map => Mapping::new(memfd, bytes.len(), Access::Read)?.copy_out(0, bytes),
            Self::Cached(kept) => {
                let kept = kept.get_mut(number).ok_or(Errno::BADMSG)?;
                if kept.is_none() {
                    *kept = Some(Mapping::new(memfd, whole, Access::Read)?);
                }
                kept.as_ref().ok_or(Errno::BADMSG)?.copy_out(0, bytes);
            }
        }
        Ok(())
    }
}

impl BodyCodec for MemfdBody {
    fn new(setup: &Setup<'_>, sends: usize, receives: usize) -> Result<Self, Failure> {
        let message_bytes = usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 2);
        let supply = BodyMemfdSource::from_setup(setup, sends, message_bytes)?;
        Ok(Self {
            source: supply,
            read_method: BodyReadMethod::from_setup(setup, receives),
            message_bytes,
        })
    }

    fn prepare(&mut self) -> Result<(), Errno> {
        match &self.source {
            BodyMemfdSource::Fresh => Ok(()),
            BodyMemfdSource::Reused(memfds, _) => {
                memfds.iter().try_for_each(|memfd| memfd.mapping.populate())
            }
        }
    }

    #[inline]
    fn encode(&mut self, envelope: Builder<'_>, bytes: &[u8]) -> Result<Message, Errno> {
        let body = |memfd: &OwnedFd, number: usize| {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            envelope.build(&(Fd::from(memfd.as_fd()), bytes.len() as u64, number)).map_err(errno)
        };
        match &mut self.source {
            BodyMemfdSource::Fresh => body(&memfd::create_sealed(bytes, &mut 0)?, 0),
            BodyMemfdSource::Reused(memfds, next) => {
                let number = *next;
                let memfd = memfds.get(number).ok_or(Errno::PROTO)?;
                memfd.mapping.copy_in(0, bytes);
                *next = (number + 1) % memfds.len();
                body(&memfd.file, number)
            }
        }
    }

    #[inline]
    fn decode(&mut self, body: &Body, into: &mut [u8]) -> Result<usize, Errno> {
        let (memfd, length, number): (Fd<'_>, u64, u32) = body.deserialize().map_err(errno)?;
        let length = usize::try_from(length).map_err(|_| Errno::MSGSIZE)?;
        let into = into.get_mut(..length).ok_or(Errno::MSGSIZE)?;
        self.read_method.fetch(&memfd, number as usize, self.message_bytes, into)?;
        Ok(length)
    }
}
