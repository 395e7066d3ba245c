//! `dbus-copy`: D-Bus messages that contain the payload.

use ipcperf_model::Failure;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use rustix::io::Errno;
use serde::{Serialize, Serializer};
use zbus::Message;
use zbus::message::{Body, Builder};
use zbus::zvariant::{Signature, Type};

use super::dbus::{self, Carrier, LONGEST_ARRAY_BYTES, VIA, errno};
use crate::channel::{Documentation, Limit, Mechanism, Setup};

/// Facts about `dbus-copy`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "dbus-copy",
    about: "D-Bus method call with the payload in its body, by way of a daemon or directly (zbus)",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::SenderTold,
    unrelated: Unrelated::Yes,
    helper: Helper::Broker,
    options: &[VIA],
    modes: &dbus::MODES,
    documentation: Documentation {
        how_it_works: "The payload is an array of bytes (`ay`) in the body of a method call, made, sent \
            and read by the crate zbus, which each party drives on its own thread (tokio, one thread). \
            via=daemon and via=broker start a dbus-daemon or a dbus-broker for the run, on a private \
            socket, with limits that never bind, on the parties' CPUs: it reads each message whole \
            and writes it on, and its CPU time is the role broker's. via=peer has the parties speak \
            over a socketpair. In round trips the method return carries the answer. In a stream calls \
            expect no reply, but every eighth one asks for an empty one, and at most 16 are out (of \
            large messages so many as make 64 MiB, at least two): daemon and library would queue \
            without bound.",
        message_boundaries: "Kept: one call, one message.",
        minimum_kernel: "Any; via=daemon needs dbus-daemon, via=broker dbus-broker 32 or newer.",
        defaults_that_matter: "zbus reads the first 16 bytes of each message and then the rest, into \
            memory that it allocates and clears; allocation is part of what is measured here. Calls \
            of the system are the library's, and not counted. A daemon tells a caller that waits for \
            a reply of the receiver's death, and nobody else; via=peer tells both. --kernel-buffer \
            does not apply.",
        references: &[
            "[D-Bus specification](https://dbus.freedesktop.org/doc/dbus-specification.html)",
            "man:dbus-daemon(1)",
            "[dbus-broker](https://github.com/bus1/dbus-broker)",
            "[zbus](https://docs.rs/zbus)",
        ],
    },
    limit: longest_array,
    holds: |_| 4,
    library: Some(dbus::ZBUS),
    execute: dbus::execute::<Copied>,
    ..Mechanism::BASE
};

#[allow(clippy::unnecessary_wraps, reason = "the type of Mechanism::limit")]
fn longest_array(_: &Setup<'_>) -> Option<Limit> {
    let because = "the longest array of the D-Bus specification".to_owned();
    Some(Limit { bytes: LONGEST_ARRAY_BYTES, because })
}

/// Carrier that puts the payload itself into the body.
#[derive(Debug)]
struct Copied;

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

impl Carrier for Copied {
    fn of(_: &Setup<'_>, _: usize, _: usize) -> Result<Self, Failure> {
        Ok(Self)
    }

    fn prepare(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    #[inline]
    fn load(&mut self, envelope: Builder<'_>, bytes: &[u8]) -> Result<Message, Errno> {
        envelope.build(&Bytes(bytes)).map_err(errno)
    }

    #[inline]
    fn unload(&mut self, body: &Body, into: &mut [u8]) -> Result<usize, Errno> {
        let got: &[u8] = body.deserialize().map_err(errno)?;
        into.get_mut(..got.len()).ok_or(Errno::MSGSIZE)?.copy_from_slice(got);
        Ok(got.len())
    }
}
