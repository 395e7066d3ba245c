//! Endpoints of `grpc`, if it is built in.
//!
//! The connection is made before the fork. tonic starts tasks, so it is started after the fork. Each peer drives tonic
//! on its own thread (a single-threaded tokio runtime) while it sends or receives.

mod client;
mod codec;
mod frame_counter;
mod server;

use std::os::unix::net::UnixStream;

use client::Client;
use ipcperf_model::Failure;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use server::Server;
use tokio::runtime;
use tonic::codegen::Bytes;
use tonic::{Code, Status};

use super::max_queued;
use crate::channel::{Blocking, Channel, Endpoint, Granted, Opened, Setup};
use crate::mechanism::setup_failure::setup_failure;
use crate::mechanism::uds_path::listen_at;
use crate::mechanism::{TempDir, self_connect};

/// Path of the call that answers each message, and of the call that takes a stream of messages.
const UNARY_PATH: &str = "/ipcperf.Receiver/Take";
const STREAMING_PATH: &str = "/ipcperf.Receiver/TakeAll";

pub(super) struct Grpc;

impl Channel for Grpc {
    type End = GrpcEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<GrpcEnd>, Failure> {
        let [sender, receiver] = connect_sockets(setup)?;
        let streamed = CallPattern::Streaming { queued: max_queued(setup) };
        let work = if setup.workload.is_answered() { CallPattern::Unary } else { streamed };
        let end = |place| GrpcEnd { state: place, pattern: work, taken: Bytes::new() };
        Ok(Opened {
            sender: end(GrpcState::Unconnected(GrpcRole::Client, sender)),
            receiver: end(GrpcState::Unconnected(GrpcRole::Server, receiver)),
            granted: Granted::default(),
        })
    }
}

/// Connects two sockets and returns both ends in nonblocking mode, as tokio requires.
fn connect_sockets(setup: &Setup<'_>) -> Result<[UnixStream; 2], Failure> {
    let scratch = TempDir::new()?;
    let path = scratch.path("socket");
    let listener = listen_at(&path)?.into();
    let address =
        SocketAddrUnix::new(&path).map_err(|errno| setup_failure("naming the socket", errno))?;
    let make = || {
        socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .map_err(|errno| setup_failure("socket(AF_UNIX)", errno))
    };
    let setup = Setup { blocking: Blocking::Try, ..*setup };
    let ends = self_connect::connect_pair(
        &listener,
        &address,
        make,
        self_connect::is_from_this_process,
        &setup,
    )?;
    Ok(ends.map(UnixStream::from))
}

/// Role of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GrpcRole {
    Client,
    Server,
}

/// Pattern of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallPattern {
    Unary,
    Streaming { queued: usize },
}

/// State of an endpoint: tonic is started after the fork.
#[derive(Debug)]
enum GrpcState {
    /// At a connection on which nothing has been sent yet.
    Unconnected(GrpcRole, UnixStream),
    Client(Box<Client>),
    Server(Box<Server>),
    /// Unusable: no HTTP/2 connection was established.
    Failed,
}

/// One endpoint of a connection.
#[derive(Debug)]
pub(super) struct GrpcEnd {
    state: GrpcState,
    pattern: CallPattern,
    /// The message received last.
    taken: Bytes,
}

impl GrpcEnd {
    fn send_bytes(&mut self, message: Bytes) -> Result<(), Errno> {
        match &mut self.state {
            GrpcState::Client(client) => client.send(message),
            GrpcState::Server(server) => server.reply(message),
            GrpcState::Unconnected(..) | GrpcState::Failed => Err(Errno::NOTCONN),
        }
    }

    /// Exchanges an empty message, so that everything a first call allocates exists and is warm.
    fn warm_up(&mut self, seat: GrpcRole) -> Result<(), Errno> {
        let is_answered = self.pattern == CallPattern::Unary;
        if seat == GrpcRole::Client {
            self.send_bytes(Bytes::new())?;
            self.flush()?;
        }
        if seat == GrpcRole::Server || is_answered {
            self.take()?;
        }
        if seat == GrpcRole::Server && is_answered {
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
        let GrpcState::Unconnected(seat, socket) =
            std::mem::replace(&mut self.state, GrpcState::Failed)
        else {
            return Ok(());
        };
        self.state = match seat {
            GrpcRole::Client => GrpcState::Client(Box::new(Client::connect(socket, self.pattern)?)),
            GrpcRole::Server => GrpcState::Server(Box::new(Server::serve(socket)?)),
        };
        self.warm_up(seat)
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.send_bytes(Bytes::copy_from_slice(bytes))?;
        Ok(bytes.len())
    }

    #[inline]
    fn take(&mut self) -> Result<usize, Errno> {
        let message = match &mut self.state {
            GrpcState::Client(client) => client.receive_reply()?,
            GrpcState::Server(server) => server.receive()?,
            GrpcState::Unconnected(..) | GrpcState::Failed => return Err(Errno::NOTCONN),
        };
        self.taken = message.unwrap_or_default();
        Ok(self.taken.len())
    }

    #[inline]
    fn taken(&self) -> &[u8] {
        &self.taken
    }

    #[inline]
    fn release(&mut self) -> Result<(), Errno> {
        self.taken = Bytes::new();
        Ok(())
    }

    #[inline]
    fn send_taken(&mut self) -> Result<(), Errno> {
        let message = std::mem::take(&mut self.taken);
        self.send_bytes(message)
    }

    fn flush(&mut self) -> Result<(), Errno> {
        match &mut self.state {
            GrpcState::Client(client) => client.flush(),
            GrpcState::Server(server) => server.flush(),
            GrpcState::Unconnected(..) | GrpcState::Failed => Ok(()),
        }
    }
}

/// Creates a runtime that runs in the calling thread.
fn new_runtime() -> Result<runtime::Runtime, Errno> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| io_errno(&error))
}

/// Registers `socket` with `runtime`.
fn register_socket(
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
