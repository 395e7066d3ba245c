//! One peer's side of a connection: a zbus connection, and the loop that drives it on the peer's own thread.

use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures_lite::StreamExt;
use rustix::io::Errno;
use tokio::runtime::{self, Runtime};
use zbus::connection::Builder;
use zbus::message::{self, Type};
use zbus::{Connection, Error, Guid, Message, MessageStream};

use super::RECEIVER;
use super::link::DbusRole;

/// An established connection and the runtime that drives it.
#[derive(Debug)]
pub(super) struct PeerConnection {
    // Fields are dropped in order: these must go before the runtime that drives them.
    messages: MessageStream,
    connection: Connection,
    runtime: Runtime,
    /// Destination of calls, if there is a bus.
    receiver: Option<&'static str>,
}

impl PeerConnection {
    /// Establishes the connection on `socket`: the handshake, and on a bus also its greeting.
    pub(super) fn establish(socket: UnixStream, seat: DbusRole) -> Result<Self, Errno> {
        let runtime = new_runtime().map_err(|error| io_errno(&error))?;
        let connection = runtime.block_on(connect(socket, seat)).map_err(errno)?;
        let messages = MessageStream::from(&connection);
        let receiver = (seat == DbusRole::Caller).then_some(RECEIVER);
        Ok(Self { messages, connection, runtime, receiver })
    }

    /// Creates a call to the other peer, still without a body.
    pub(super) fn call(
        &self,
        object: &'static str,
        method: &'static str,
    ) -> zbus::Result<message::Builder<'static>> {
        let call = Message::method_call(object, method)?;
        match self.receiver {
            Some(receiver) => call.destination(receiver),
            None => Ok(call),
        }
    }

    /// Sends `message`; messages that arrive meanwhile are queued. There is nearly always room, and then
    /// nothing to wait for: entering the runtime would cost more than the send itself.
    #[inline]
    pub(super) fn send(&self, message: &Message) -> Result<(), Errno> {
        let mut sending = pin!(self.connection.send(message));
        let sent = match sending.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(sent) => sent,
            Poll::Pending => self.runtime.block_on(sending),
        };
        sent.map_err(errno)
    }

    /// Waits for the next message of type `wanted`. Skips signals, with which a bus announces names.
    #[inline]
    pub(super) fn next_message(&mut self, wanted: Type) -> Result<Message, Errno> {
        let Self { messages, runtime, .. } = self;
        runtime.block_on(async {
            loop {
                let message = messages.next().await.ok_or(Errno::CONNRESET)?.map_err(errno)?;
                match message.message_type() {
                    got if got == wanted => return Ok(message),
                    Type::Signal => {}
                    // The bus reports that the other peer has disconnected.
                    Type::Error => return Err(Errno::CONNRESET),
                    Type::MethodCall | Type::MethodReturn => return Err(Errno::PROTO),
                }
            }
        })
    }
}

/// Creates a runtime without a thread of its own.
pub(super) fn new_runtime() -> std::io::Result<Runtime> {
    runtime::Builder::new_current_thread().enable_io().build()
}

async fn connect(socket: UnixStream, seat: DbusRole) -> zbus::Result<Connection> {
    let builder = connection_builder(socket)?;
    match seat {
        DbusRole::Caller => builder.build().await,
        DbusRole::Callee => builder.name(RECEIVER)?.build().await,
        DbusRole::PeerCaller => builder.p2p().build().await,
        DbusRole::PeerCallee => builder.p2p().server(Guid::generate())?.build().await,
    }
}

/// Starts to build a connection on `socket`. Must be called within a runtime.
pub(super) fn connection_builder(socket: UnixStream) -> zbus::Result<Builder<'static>> {
    socket.set_nonblocking(true)?;
    Ok(Builder::unix_stream(tokio::net::UnixStream::from_std(socket)?))
}

/// Maps `error` to the closest system error number.
#[cold]
#[allow(clippy::needless_pass_by_value, reason = "errors are mapped by value")]
pub(in crate::mechanism) fn errno(error: Error) -> Errno {
    match error {
        Error::InputOutput(error) => io_errno(&error),
        Error::MethodError(..) => Errno::CONNRESET,
        Error::ExcessData => Errno::MSGSIZE,
        _ => Errno::PROTO,
    }
}

fn io_errno(error: &std::io::Error) -> Errno {
    let gone = matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof);
    Errno::from_io_error(error).unwrap_or(if gone { Errno::PIPE } else { Errno::IO })
}
