//! `grpc`: gRPC calls over a Unix domain socket (tonic).
//!
//! The connection is made before the fork. tonic starts tasks, so it is started after the fork. Each peer
//! drives tonic on its own thread (a single-threaded tokio runtime) while it sends or receives.

mod client;
mod codec;
mod frame_counter;
mod server;

use std::os::unix::net::UnixStream;

use client::Client;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, Library, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use server::Server;
use tokio::runtime;
use tonic::codegen::Bytes;
use tonic::{Code, Status};

use super::refusal::refused;
use super::uds_path::listen_at;
use super::{Scratch, meeting};
use crate::channel::{
    Blocking, Channel, Documentation, Endpoint, Granted, Limit, Mechanism, Opened, Setup,
};
use crate::worker;

/// Facts about `grpc`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "grpc",
    about: "remote calls by gRPC over a Unix domain socket: unary, or one that streams (tonic)",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::Told,
    unrelated: Unrelated::Yes,
    helper: Helper::Nobody,
    modes: &[Mode::TwoThreads, Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "The crate tonic, on HTTP/2 (hyper), over one Unix domain stream socket; sender and \
            receiver are client and server. Each party drives it on its own thread (tokio, one thread). \
            A round trip is a unary call, which is what one uses gRPC for: an HTTP/2 stream of its own, \
            with headers there and back and trailers. A stream is one call with client streaming for the \
            whole run: messages go through a queue of 128 into its body (of large ones as many as make 4 \
            MiB, at least one), small ones several to a frame. The sender copies each message into memory of its own, as tonic wants to have it, \
            tonic into a frame; the receiver reads it where tonic left it, and an echo is sent from there.",
        message_boundaries: "Kept: each message has its length in front.",
        minimum_kernel: "Any.",
        defaults_that_matter: "The body of a message is the payload alone, written and read by a codec of \
            ours: protobuf, which would add a tag and a length, has no part in it. Nothing is compressed. \
            The largest message that tonic takes (4 MiB) is lifted; windows of flow control are \
            hyper's defaults (1 to 2 MiB a stream), and a sender that is ahead waits for them. There is \
            no TLS. Calls of the system are the library's, and not counted. --kernel-buffer does not \
            apply.",
        references: &[
            "[gRPC over HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md)",
            "[RFC 9113](https://www.rfc-editor.org/rfc/rfc9113)",
            "[tonic](https://docs.rs/tonic)",
        ],
    },
    limit: length_prefix,
    holds: |setup| if setup.workload.is_answered() { 6 } else { queued(setup) as u64 + 6 },
    library: Some(Library { name: "tonic", version: env!("VERSION_OF_TONIC"), licence: "MIT" }),
    execute: worker::execute::<Grpc>,
    ..Mechanism::BASE
};

#[allow(clippy::unnecessary_wraps, reason = "the type of Mechanism::limit")]
fn length_prefix(_: &Setup<'_>) -> Option<Limit> {
    let because = "the length in front of a message has four bytes".to_owned();
    Some(Limit { bytes: u32::MAX.into(), because })
}

/// Maximum number of small messages queued between a peer and the body of its call.
const MOST_QUEUED: u64 = 128;
/// Maximum number of bytes in that queue; one message is always allowed.
const MOST_QUEUED_BYTES: u64 = 4 << 20;

/// Returns the maximum number of messages queued between a peer and the body of its call.
#[allow(clippy::cast_possible_truncation, reason = "128 at most")]
fn queued(setup: &Setup<'_>) -> usize {
    (MOST_QUEUED_BYTES / setup.buffer_bytes.max(1)).clamp(1, MOST_QUEUED) as usize
}

/// Path of the call that answers each message, and of the call that takes a stream of messages.
const UNARY: &str = "/ipcperf.Receiver/Take";
const STREAMING: &str = "/ipcperf.Receiver/TakeAll";

struct Grpc;

impl Channel for Grpc {
    type End = GrpcEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<GrpcEnd>, Failure> {
        let [sender, receiver] = connected(setup)?;
        let streamed = Work::Streamed { queued: queued(setup) };
        let work = if setup.workload.is_answered() { Work::Answered } else { streamed };
        let end = |place| GrpcEnd { place, work, taken: Bytes::new() };
        Ok(Opened {
            sender: end(Place::Outside(Seat::Client, sender)),
            receiver: end(Place::Outside(Seat::Server, receiver)),
            granted: Granted::default(),
        })
    }
}

/// Connects two sockets and returns both ends in nonblocking mode, as tokio requires.
fn connected(setup: &Setup<'_>) -> Result<[UnixStream; 2], Failure> {
    let scratch = Scratch::new()?;
    let path = scratch.path("socket");
    let listener = listen_at(&path)?.into();
    let address =
        SocketAddrUnix::new(&path).map_err(|errno| refused("naming the socket", errno))?;
    let make = || {
        socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .map_err(|errno| refused("socket(AF_UNIX)", errno))
    };
    let setup = Setup { blocking: Blocking::Try, ..*setup };
    let ends = meeting::meet(&listener, &address, make, meeting::is_of_this_process, &setup)?;
    Ok(ends.map(UnixStream::from))
}

/// Role of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seat {
    Client,
    Server,
}

/// Pattern of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Answered,
    Streamed { queued: usize },
}

/// State of an endpoint: tonic is started after the fork.
#[derive(Debug)]
enum Place {
    /// At a connection on which nothing has been sent yet.
    Outside(Seat, UnixStream),
    Client(Box<Client>),
    Server(Box<Server>),
    /// Unusable: no HTTP/2 connection was established.
    Lost,
}

/// One endpoint of a connection.
#[derive(Debug)]
struct GrpcEnd {
    place: Place,
    work: Work,
    /// The message received last.
    taken: Bytes,
}

impl GrpcEnd {
    fn send_bytes(&mut self, message: Bytes) -> Result<(), Errno> {
        match &mut self.place {
            Place::Client(client) => client.send(message),
            Place::Server(server) => server.answer(message),
            Place::Outside(..) | Place::Lost => Err(Errno::NOTCONN),
        }
    }

    /// Exchanges an empty message, so that everything a first call allocates exists and is warm.
    fn greet(&mut self, seat: Seat) -> Result<(), Errno> {
        let is_answered = self.work == Work::Answered;
        if seat == Seat::Client {
            self.send_bytes(Bytes::new())?;
            self.flush()?;
        }
        if seat == Seat::Server || is_answered {
            self.take()?;
        }
        if seat == Seat::Server && is_answered {
            self.send_bytes(Bytes::new())?;
            self.flush()?;
        }
        Ok(())
    }
}

impl Endpoint for GrpcEnd {
    const KEEPS_BOUNDARIES: bool = true;
    const COUNTS_CALLS: bool = false;
    const RECEIVES_IN_PLACE: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        let Place::Outside(seat, socket) = std::mem::replace(&mut self.place, Place::Lost) else {
            return Ok(());
        };
        self.place = match seat {
            Seat::Client => Place::Client(Box::new(Client::join(socket, self.work)?)),
            Seat::Server => Place::Server(Box::new(Server::join(socket)?)),
        };
        self.greet(seat)
    }

    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.send_bytes(Bytes::copy_from_slice(bytes))?;
        Ok(bytes.len())
    }

    fn take(&mut self) -> Result<usize, Errno> {
        let message = match &mut self.place {
            Place::Client(client) => client.answered()?,
            Place::Server(server) => server.hear()?,
            Place::Outside(..) | Place::Lost => return Err(Errno::NOTCONN),
        };
        self.taken = message.unwrap_or_default();
        Ok(self.taken.len())
    }

    #[inline]
    fn taken(&self) -> &[u8] {
        &self.taken
    }

    fn release(&mut self) -> Result<(), Errno> {
        self.taken = Bytes::new();
        Ok(())
    }

    fn send_taken(&mut self) -> Result<(), Errno> {
        let message = std::mem::take(&mut self.taken);
        self.send_bytes(message)
    }

    fn flush(&mut self) -> Result<(), Errno> {
        match &mut self.place {
            Place::Client(client) => client.flush(),
            Place::Server(server) => server.flush(),
            Place::Outside(..) | Place::Lost => Ok(()),
        }
    }
}

/// Creates a runtime without a thread of its own.
fn current_thread() -> Result<runtime::Runtime, Errno> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| io_errno(&error))
}

/// Registers `socket` with `runtime`.
fn socket_in(
    runtime: &runtime::Runtime,
    socket: UnixStream,
) -> Result<tokio::net::UnixStream, Errno> {
    let _within = runtime.enter();
    tokio::net::UnixStream::from_std(socket).map_err(|error| io_errno(&error))
}

fn io_errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// Maps `status` to the closest system error number.
#[cold]
#[allow(clippy::needless_pass_by_value, reason = "errors are mapped by value")]
fn errno(status: Status) -> Errno {
    match status.code() {
        // tonic reports a closed connection with these codes.
        Code::Unavailable | Code::Cancelled | Code::Unknown => Errno::CONNRESET,
        Code::OutOfRange | Code::ResourceExhausted => Errno::MSGSIZE,
        _ => Errno::PROTO,
    }
}
