//! Implementation of `dbus-memfd`.

use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::Failure;
use rustix::io::Errno;
use zbus::Message;
use zbus::message::{Body, Builder};
use zbus::zvariant::Fd;

use super::{MAP, MEMFD};
use crate::channel::{Mechanism, Setup};
use crate::mechanism::dbus::endpoint::{self as dbus, BodyCodec, errno};
use crate::mechanism::mapping::{Access, Mapping};
use crate::mechanism::memfd::{self, MappedMemfd};
use crate::platform::memory::shared_memory_available;

/// The part of `dbus-memfd` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: shared_memory_available,
    in_flight_messages: |_| 4,
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
