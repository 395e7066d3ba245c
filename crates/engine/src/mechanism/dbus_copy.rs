//! `dbus-copy`: D-Bus messages that contain the payload.

use ipcperf_model::Failure;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use rustix::io::Errno;
use serde::{Serialize, Serializer};
use zbus::Message;
use zbus::message::{Body, Builder};
use zbus::zvariant::{Signature, Type};

use super::dbus::{self, BodyCodec, MAX_ARRAY_BYTES, VIA, errno};
use crate::channel::{Documentation, Limit, Mechanism, Setup};

/// Facts about `dbus-copy`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "dbus-copy",
    about: "D-Bus method call with the payload in its body (zbus)",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::ErrorOnSend,
    unrelated: Unrelated::Yes,
    helper: Helper::Broker,
    options: &[VIA],
    modes: &dbus::MODES,
    documentation: Documentation {
        how_it_works: "The payload is an array of bytes (`ay`) in the body of a method call. The \
            crate zbus builds, sends and reads the messages. Each peer runs zbus on its own thread \
            (tokio, one thread). The option via selects what forwards the messages:\n\n\
            - via=daemon and via=broker: ipcperf starts a dbus-daemon or a dbus-broker for the \
            run, on a private socket, on the peers' CPUs, with limits so high that they never take \
            effect. The daemon or broker reads each message completely before it forwards it. Its \
            CPU time is reported for the role broker.\n\
            - via=peer: nothing forwards them; a socketpair connects the peers directly.\n\n\
            In a round trip, the method return carries the reply. In a stream, at most 16 calls \
            are in flight, because the daemon and the library would queue calls without limit. \
            With large messages, fewer calls are in flight: as many as make 64 MiB, but at least \
            two. The last call of each half of this maximum (every eighth call if the maximum is \
            16) requests an empty reply. The other calls request none.",
        message_boundaries: "Kept: each call carries one message.",
        minimum_kernel: "Any; via=daemon needs dbus-daemon, and via=broker needs dbus-broker 32 or \
            newer.",
        defaults_that_matter: "zbus reads the first 16 bytes of each message and then the rest, \
            into memory that it allocates and clears. This allocation is part of the result. The \
            library makes the system calls itself, so ipcperf does not count them. A daemon \
            reports the death of the receiver only to a caller that waits for a reply. With \
            via=peer, each peer notices the death of the other peer. --kernel-buffer does not \
            apply.",
        references: &[
            "[D-Bus specification](https://dbus.freedesktop.org/doc/dbus-specification.html)",
            "man:dbus-daemon(1)",
            "[dbus-broker](https://github.com/bus1/dbus-broker)",
            "[zbus](https://docs.rs/zbus)",
        ],
    },
    limit: array_limit,
    in_flight_messages: |_| 4,
    library: Some(dbus::ZBUS),
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
