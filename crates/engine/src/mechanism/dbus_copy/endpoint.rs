//! Implementation of `dbus-copy`.

use ipcperf_model::Failure;
use rustix::io::Errno;
use serde::{Serialize, Serializer};
use zbus::Message;
use zbus::message::{Body, Builder};
use zbus::zvariant::{Signature, Type};

use crate::channel::{Limit, Mechanism, Setup};
use crate::mechanism::dbus::endpoint::{self as dbus, BodyCodec, MAX_ARRAY_BYTES, errno};

/// The part of `dbus-copy` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    limit: array_limit,
    in_flight_messages: |_| 4,
    execute: dbus::execute::<InlineBody>,
    ..Mechanism::BASE
};

#[allow(clippy::unnecessary_wraps, reason = "the type of Mechanism::limit")]
fn array_limit(_: &Setup<'_>) -> Option<Limit> {
    let reason = "maximum array length of the D-Bus specification".to_owned();
    Some(Limit { bytes: MAX_ARRAY_BYTES, reason })
}

/// Carrier that puts the payload itself into the body.
#[derive(Debug)]
struct InlineBody;

/// Bytes that are serialized at once; a slice would be serialized byte by byte.
struct Bytes<'a>(&'a [u8]);

impl Type for Bytes<'_> {
    const SIGNATURE: &'static Signature = <&[u8]>::SIGNATURE;
}

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl BodyCodec for InlineBody {
    fn new(_: &Setup<'_>, _: usize, _: usize) -> Result<Self, Failure> {
        Ok(Self)
    }

    fn prepare(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    #[inline]
    fn encode(&mut self, envelope: Builder<'_>, bytes: &[u8]) -> Result<Message, Errno> {
        envelope.build(&Bytes(bytes)).map_err(errno)
    }

    #[inline]
    fn decode(&mut self, body: &Body, into: &mut [u8]) -> Result<usize, Errno> {
        let got: &[u8] = body.deserialize().map_err(errno)?;
        into.get_mut(..got.len()).ok_or(Errno::MSGSIZE)?.copy_from_slice(got);
        Ok(got.len())
    }
}
