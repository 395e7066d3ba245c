//! D-Bus through the crate `zbus`: method calls from the sender to the receiver, through a daemon or
//! directly. A [`BodyCodec`] decides what the body of a message holds.
//!
//! The peers' sockets are connected before the fork. zbus starts tasks, so it is started after the fork. Each
//! peer drives zbus on its own thread (a single-threaded tokio runtime).

mod broker;
mod connection;
mod daemon;
mod link;
mod open;
mod policy;
mod process;
mod window;

use std::os::unix::net::UnixStream;

use connection::PeerConnection;
use ipcperf_model::{Failure, RunSpec, Unavailable, WorkerReport};
use link::{DbusLink, DbusRole};
use rustix::io::Errno;
use zbus::Message;
use zbus::message::{Body, Builder, Flags, Type};

use crate::channel::{Channel, Endpoint, Granted, Mechanism, Opened, Setup};
use crate::worker;
pub(in crate::mechanism) use connection::errno;
use window::Window;

/// Maximum length of an array in a message, bytes. Source: the D-Bus specification, "Marshaling (Wire
/// Format)".
pub(in crate::mechanism) const MAX_ARRAY_BYTES: u64 = 64 << 20;

/// Checks that dbus-daemon is installed.
pub(super) fn daemon_available() -> Result<(), Unavailable> {
    daemon::available()
}

/// Checks that dbus-broker is installed.
pub(super) fn broker_available() -> Result<(), Unavailable> {
    broker::available()
}

/// Bus name of the receiver.
const RECEIVER: &str = "org.ipcperf.Receiver";
const OBJECT: &str = "/org/ipcperf";
const METHOD: &str = "Take";

/// Encoding of a payload in the body of a message.
pub(in crate::mechanism) trait BodyCodec: Sized + Send + 'static {
    /// Creates the carrier of an endpoint that has at most `sends` unacknowledged messages, and whose peer
    /// has at most `receives`.
    fn new(setup: &Setup<'_>, sends: usize, receives: usize) -> Result<Self, Failure>;

    /// Maps and touches memory, in the process of the peer that uses it.
    fn prepare(&mut self) -> Result<(), Errno>;

    /// Builds the message of `envelope` with `bytes` as payload.
    fn encode(&mut self, envelope: Builder<'_>, bytes: &[u8]) -> Result<Message, Errno>;

    /// Copies the payload of `body` to the front of `into` and returns its length.
    fn decode(&mut self, body: &Body, into: &mut [u8]) -> Result<usize, Errno>;
}

/// Executes `spec` and ends the broker that it started.
pub(in crate::mechanism) fn execute<C: BodyCodec>(
    spec: &RunSpec,
    mechanism: &Mechanism<'_>,
) -> WorkerReport {
    process::end_broker(worker::execute::<Dbus<C>>(spec, mechanism))
}

struct Dbus<C>(std::marker::PhantomData<C>);

impl<C: BodyCodec> Channel for Dbus<C> {
    type End = DbusEnd<C>;

    fn open(setup: &Setup<'_>) -> Result<Opened<DbusEnd<C>>, Failure> {
        let window = Window::with_message_bytes(setup.buffer_bytes);
        let (asking, hearing, there, back) = if setup.workload.is_answered() {
            (Exchange::Calling, Exchange::Replying(None), 1, 1)
        } else {
            (Exchange::Streaming(window), Exchange::Acknowledging, window.max_calls(), 0)
        };
        let DbusLink { sockets: [caller, callee], roles: [first, second], broker_pid: broker } =
            open::open(setup)?;
        let end = |place, talk, carrier| DbusEnd {
            state: place,
            exchange: talk,
            codec: carrier,
            broker_pid: broker,
        };
        Ok(Opened {
            sender: end(DbusState::Unconnected(caller, first), asking, C::new(setup, there, back)?),
            receiver: end(
                DbusState::Unconnected(callee, second),
                hearing,
                C::new(setup, back, there)?,
            ),
            granted: Granted::default(),
        })
    }
}

/// State of an endpoint: zbus is started after the fork.
#[derive(Debug)]
enum DbusState {
    /// At a socket on which nothing has been sent yet.
    Unconnected(UnixStream, DbusRole),
    /// Connected.
    Connected(Box<PeerConnection>),
    /// Unusable: the handshake on its socket failed.
    Failed,
}

/// Role of an endpoint in the exchange.
#[derive(Debug)]
enum Exchange {
    /// Makes calls that are answered one by one with a payload.
    Calling,
    /// Makes calls, some of which ask for an empty reply that acknowledges what has arrived.
    Streaming(Window),
    /// Answers the call received last.
    Replying(Option<Message>),
    /// Replies to the calls that ask for a reply.
    Acknowledging,
}

/// One endpoint of a D-Bus connection.
#[derive(Debug)]
pub(in crate::mechanism) struct DbusEnd<C> {
    state: DbusState,
    exchange: Exchange,
    codec: C,
    broker_pid: Option<u32>,
}

impl DbusState {
    fn connection(&mut self) -> Result<&mut PeerConnection, Errno> {
        match self {
            Self::Connected(connection) => Ok(connection),
            Self::Unconnected(..) | Self::Failed => Err(Errno::NOTCONN),
        }
    }
}

/// Whether a call asks for a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    Requested,
    NotRequested,
}

impl<C: BodyCodec> DbusEnd<C> {
    fn call(&mut self, bytes: &[u8], reply: Reply) -> Result<(), Errno> {
        let connection = self.state.connection()?;
        let envelope = connection.call(OBJECT, METHOD).and_then(|envelope| match reply {
            Reply::Requested => Ok(envelope),
            Reply::NotRequested => envelope.with_flags(Flags::NoReplyExpected),
        });
        let message = self.codec.encode(envelope.map_err(errno)?, bytes)?;
        connection.send(&message)
    }

    /// Waits while the window is full, then makes a call.
    fn send_in_window(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        let Exchange::Streaming(window) = &mut self.exchange else { return Err(Errno::PROTO) };
        while window.is_full() {
            self.state.connection()?.next_message(Type::MethodReturn)?;
            window.acknowledge();
        }
        let reply = window.record_call();
        self.call(bytes, reply)
    }

    fn reply(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        let Exchange::Replying(call) = &mut self.exchange else { return Err(Errno::PROTO) };
        let call = call.take().ok_or(Errno::PROTO)?;
        let envelope = Message::method_return(&call.header()).map_err(errno)?;
        let message = self.codec.encode(envelope, bytes)?;
        self.state.connection()?.send(&message)
    }

    fn receive_call(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let connection = self.state.connection()?;
        let call = connection.next_message(Type::MethodCall)?;
        let got = self.codec.decode(&call.body(), bytes)?;
        let is_reply_requested = !call.primary_header().flags().contains(Flags::NoReplyExpected);
        match &mut self.exchange {
            Exchange::Replying(kept) => *kept = Some(call),
            _ if is_reply_requested => {
                let reply = Message::method_return(&call.header());
                connection.send(&reply.and_then(|reply| reply.build(&())).map_err(errno)?)?;
            }
            _ => {}
        }
        Ok(got)
    }
}

impl<C: BodyCodec> Endpoint for DbusEnd<C> {
    const KEEPS_BOUNDARIES: bool = true;
    const COUNTS_CALLS: bool = false;

    fn prepare(&mut self) -> Result<(), Errno> {
        self.codec.prepare()?;
        if let DbusState::Unconnected(socket, seat) =
            std::mem::replace(&mut self.state, DbusState::Failed)
        {
            self.state = DbusState::Connected(Box::new(PeerConnection::establish(socket, seat)?));
        }
        Ok(())
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        match self.exchange {
            Exchange::Calling => self.call(bytes, Reply::Requested),
            Exchange::Streaming(_) => self.send_in_window(bytes),
            Exchange::Replying(_) | Exchange::Acknowledging => self.reply(bytes),
        }?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        match self.exchange {
            Exchange::Calling | Exchange::Streaming(_) => {
                let reply = self.state.connection()?.next_message(Type::MethodReturn)?;
                self.codec.decode(&reply.body(), bytes)
            }
            Exchange::Replying(_) | Exchange::Acknowledging => self.receive_call(bytes),
        }
    }

    fn broker_pid(&self) -> Option<u32> {
        self.broker_pid
    }
}
