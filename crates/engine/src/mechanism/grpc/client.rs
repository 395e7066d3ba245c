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

use super::codec::AsTheyAre;
use super::frame_counter::{Wire, Written};
use super::{STREAMING, UNARY, Work, current_thread, errno, socket_in};

/// Length of the gRPC prefix of each message, bytes: compression flag and message length.
const PREFIX_BYTES: u64 = 5;

/// A client with its connection, and the runtime that drives it.
#[derive(Debug)]
pub(super) struct Client {
    // Fields are dropped in order: this must go before the runtime that drives it.
    talk: Talk,
    written: Arc<Written>,
    runtime: Runtime,
}

#[derive(Debug)]
enum Talk {
    /// Calls that are answered one by one, and the next message if its call has not been made yet.
    Asking { grpc: Grpc<Channel>, next: Option<Bytes> },
    /// One call whose body takes messages from a queue, and the number of bytes queued so far.
    Telling { queue: mpsc::Sender<Bytes>, bytes: u64 },
}

impl Client {
    /// Connects on `socket`.
    pub(super) fn join(socket: UnixStream, work: Work) -> Result<Self, Errno> {
        let runtime = current_thread()?;
        let wire = Wire::of_client(socket_in(&runtime, socket)?);
        let written = wire.written();
        let connector = Once(Some(TokioIo::new(wire)));
        // HTTP/2 requires a host name; nothing resolves it.
        let endpoint = Endpoint::from_static("http://receiver.invalid");
        let channel = runtime.block_on(endpoint.connect_with_connector(connector));
        let channel = channel.map_err(|_| Errno::CONNREFUSED)?;
        let grpc = Grpc::new(channel).max_decoding_message_size(usize::MAX);
        let talk = match work {
            Work::Answered => Talk::Asking { grpc, next: None },
            Work::Streamed { queued } => {
                Talk::Telling { queue: tell(&runtime, grpc, queued), bytes: 0 }
            }
        };
        Ok(Self { talk, written, runtime })
    }

    /// Sends `message`. A call that is answered is made only when its answer is requested.
    pub(super) fn send(&mut self, message: Bytes) -> Result<(), Errno> {
        match &mut self.talk {
            Talk::Asking { next, .. } => *next = Some(message),
            Talk::Telling { queue, bytes } => {
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
    pub(super) fn answered(&mut self) -> Result<Option<Bytes>, Errno> {
        let Talk::Asking { grpc, next } = &mut self.talk else { return Err(Errno::PROTO) };
        let message = next.take().ok_or(Errno::PROTO)?;
        self.runtime.block_on(ask(grpc, message)).map(Some).map_err(errno)
    }

    /// Waits until all messages have been written to the socket.
    pub(super) fn flush(&mut self) -> Result<(), Errno> {
        let Talk::Telling { bytes, .. } = self.talk else { return Ok(()) };
        self.runtime.block_on(self.written.until(|written| written.data_bytes() >= bytes))
    }
}

async fn ask(grpc: &mut Grpc<Channel>, message: Bytes) -> Result<Bytes, Status> {
    grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let path = PathAndQuery::from_static(UNARY);
    let answer = grpc.unary(Request::new(message), path, AsTheyAre).await?;
    Ok(answer.into_inner())
}

/// Makes the call whose body takes messages from the returned queue, which holds up to `most` messages.
fn tell(runtime: &Runtime, mut grpc: Grpc<Channel>, most: usize) -> mpsc::Sender<Bytes> {
    let (queue, mut queued) = mpsc::channel(most);
    let body = stream::poll_fn(move |context| queued.poll_recv(context));
    runtime.spawn(async move {
        if grpc.ready().await.is_ok() {
            let path = PathAndQuery::from_static(STREAMING);
            // However the call ends, the queue is closed then, and the sender gets an error.
            let _: Result<_, Status> =
                grpc.client_streaming::<_, _, Bytes, _>(Request::new(body), path, AsTheyAre).await;
        }
    });
    queue
}

/// Connector that hands out one connection, once.
struct Once(Option<TokioIo<Wire>>);

impl Service<Uri> for Once {
    type Response = TokioIo<Wire>;
    type Error = io::Error;
    type Future = Ready<io::Result<TokioIo<Wire>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        ready(self.0.take().ok_or_else(|| io::ErrorKind::NotConnected.into()))
    }
}
