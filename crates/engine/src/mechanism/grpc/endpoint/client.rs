//! The sender's side, which makes the calls.

use std::future::{Ready, ready};
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_lite::stream;
use hyper_util::rt::TokioIo;
use rustix::io::Errno;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tonic::client::Grpc;
use tonic::codegen::http::Uri;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::{Bytes, Service};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

use super::codec::RawCodec;
use super::frame_counter::{CountingStream, WriteCounts};
use super::{CallPattern, STREAMING_PATH, UNARY_PATH, errno, new_runtime, register_socket};

/// Length of the gRPC prefix of each message, bytes: compression flag and message length.
const PREFIX_BYTES: u64 = 5;

/// A client with its connection, and the runtime that drives it.
#[derive(Debug)]
pub(super) struct Client {
    // Fields are dropped in order: this must go before the runtime that drives it.
    call: ClientCall,
    written: Arc<WriteCounts>,
    runtime: Runtime,
}

#[derive(Debug)]
enum ClientCall {
    /// Calls that are answered one by one, and the next message if its call has not been made yet.
    Unary { grpc: Grpc<Channel>, next: Option<Bytes> },
    /// One call whose body takes messages from a queue, and the number of bytes queued so far.
    Streaming { queue: mpsc::Sender<Bytes>, bytes: u64 },
}

impl Client {
    /// Connects on `socket`.
    pub(super) fn connect(socket: UnixStream, work: CallPattern) -> Result<Self, Errno> {
        let runtime = new_runtime()?;
        let wire = CountingStream::new_client(register_socket(&runtime, socket)?);
        let written = wire.written();
        let connector = OnceConnector(Some(TokioIo::new(wire)));
        // HTTP/2 requires a host name; nothing resolves it.
        let endpoint = Endpoint::from_static("http://receiver.invalid");
        let channel = runtime.block_on(endpoint.connect_with_connector(connector));
        let channel = channel.map_err(|_| Errno::CONNREFUSED)?;
        let grpc = Grpc::new(channel).max_decoding_message_size(usize::MAX);
        let talk = match work {
            CallPattern::Unary => ClientCall::Unary { grpc, next: None },
            CallPattern::Streaming { queued } => {
                ClientCall::Streaming { queue: start_streaming(&runtime, grpc, queued), bytes: 0 }
            }
        };
        Ok(Self { call: talk, written, runtime })
    }

    /// Sends `message`. A call that is answered is made only when its answer is requested.
    pub(super) fn send(&mut self, message: Bytes) -> Result<(), Errno> {
        match &mut self.call {
            ClientCall::Unary { next, .. } => *next = Some(message),
            ClientCall::Streaming { queue, bytes } => {
                *bytes += PREFIX_BYTES + message.len() as u64;
                // If there is room, entering the runtime would cost more than the send.
                match queue.try_send(message) {
                    Ok(()) => {}
                    Err(TrySendError::Closed(_)) => return Err(Errno::PIPE),
                    Err(TrySendError::Full(message)) => {
                        let sent = self.runtime.block_on(queue.send(message));
                        sent.map_err(|_| Errno::PIPE)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes the call and waits for its answer.
    pub(super) fn receive_reply(&mut self) -> Result<Option<Bytes>, Errno> {
        let ClientCall::Unary { grpc, next } = &mut self.call else { return Err(Errno::PROTO) };
        let message = next.take().ok_or(Errno::PROTO)?;
        self.runtime.block_on(call_unary(grpc, message)).map(Some).map_err(errno)
    }

    /// Waits until all messages have been written to the socket.
    pub(super) fn flush(&mut self) -> Result<(), Errno> {
        let ClientCall::Streaming { bytes, .. } = self.call else { return Ok(()) };
        self.runtime.block_on(self.written.wait_until(|written| written.data_bytes() >= bytes))
    }
}

async fn call_unary(grpc: &mut Grpc<Channel>, message: Bytes) -> Result<Bytes, Status> {
    grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let path = PathAndQuery::from_static(UNARY_PATH);
    let answer = grpc.unary(Request::new(message), path, RawCodec).await?;
    Ok(answer.into_inner())
}

/// Makes the call whose body takes messages from the returned queue, which holds up to `max_queued` messages.
fn start_streaming(
    runtime: &Runtime,
    mut grpc: Grpc<Channel>,
    max_queued: usize,
) -> mpsc::Sender<Bytes> {
    let (queue, mut queued) = mpsc::channel(max_queued);
    let body = stream::poll_fn(move |context| queued.poll_recv(context));
    runtime.spawn(async move {
        if grpc.ready().await.is_ok() {
            let path = PathAndQuery::from_static(STREAMING_PATH);
            // However the call ends, the queue is closed then, and the sender gets an error.
            let _: Result<_, Status> =
                grpc.client_streaming::<_, _, Bytes, _>(Request::new(body), path, RawCodec).await;
        }
    });
    queue
}

/// Connector that hands out one connection, once.
struct OnceConnector(Option<TokioIo<CountingStream>>);

impl Service<Uri> for OnceConnector {
    type Response = TokioIo<CountingStream>;
    type Error = io::Error;
    type Future = Ready<io::Result<TokioIo<CountingStream>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        ready(self.0.take().ok_or_else(|| io::ErrorKind::NotConnected.into()))
    }
}
