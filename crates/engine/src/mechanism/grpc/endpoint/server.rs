//! The receiver's side, which is called.

use std::convert::Infallible;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_lite::stream;
use rustix::io::Errno;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};
use tonic::body::Body;
use tonic::codegen::http::{Request as HttpRequest, Response as HttpResponse};
use tonic::codegen::{BoxFuture, Bytes, Service};
use tonic::server::{ClientStreamingService, Grpc, UnaryService};
use tonic::{Request, Response, Status, Streaming};

use super::codec::RawCodec;
use super::frame_counter::{CountingStream, WriteCounts};
use super::{STREAMING_PATH, UNARY_PATH, errno, new_runtime, register_socket};

/// A server with its only connection, and the runtime that drives it.
#[derive(Debug)]
pub(super) struct Server {
    // Fields are dropped in order: these must go before the runtime that drives them.
    calls: mpsc::Receiver<Call>,
    /// Source of messages, once a streaming call has arrived.
    messages: Option<Streaming<Bytes>>,
    /// Channel to the call that waits for an answer.
    pending_reply: Option<oneshot::Sender<Bytes>>,
    reply_count: u64,
    written: Arc<WriteCounts>,
    runtime: Runtime,
}

/// A call that has arrived.
#[derive(Debug)]
enum Call {
    Unary(Bytes, oneshot::Sender<Bytes>),
    Streaming(Streaming<Bytes>),
}

impl Server {
    /// Serves the connection on `socket`.
    pub(super) fn serve(socket: UnixStream) -> Result<Self, Errno> {
        let runtime = new_runtime()?;
        let wire = CountingStream::new_server(register_socket(&runtime, socket)?);
        let written = wire.written();
        // There is one call at a time, or a single streaming call.
        let (called, calls) = mpsc::channel(1);
        let connections = stream::once(Ok::<_, io::Error>(wire));
        let serving = tonic::transport::Server::builder()
            .serve_with_incoming(ReceiverService(called), connections);
        runtime.spawn(serving);
        Ok(Self { calls, messages: None, pending_reply: None, reply_count: 0, written, runtime })
    }

    /// Waits for the next message; `None` once the client is gone.
    pub(super) fn receive(&mut self) -> Result<Option<Bytes>, Errno> {
        loop {
            if let Some(messages) = &mut self.messages {
                return self.runtime.block_on(messages.message()).map_err(errno);
            }
            match self.runtime.block_on(self.calls.recv()) {
                Some(Call::Streaming(messages)) => self.messages = Some(messages),
                Some(Call::Unary(message, waiting)) => {
                    self.pending_reply = Some(waiting);
                    return Ok(Some(message));
                }
                None => return Ok(None),
            }
        }
    }

    /// Answers the call received last. The answer is written when the runtime is entered next.
    pub(super) fn reply(&mut self, message: Bytes) -> Result<(), Errno> {
        let waiting = self.pending_reply.take().ok_or(Errno::PROTO)?;
        self.reply_count += 1;
        waiting.send(message).map_err(|_| Errno::CONNRESET)
    }

    /// Waits until all answers have been written to the socket.
    pub(super) fn flush(&mut self) -> Result<(), Errno> {
        let answers = self.reply_count;
        self.runtime.block_on(self.written.wait_until(|written| written.streams_ended() >= answers))
    }
}

/// The service, which passes incoming calls on to the peer's loop.
#[derive(Clone, Debug)]
struct ReceiverService(mpsc::Sender<Call>);

impl Service<HttpRequest<Body>> for ReceiverService {
    type Response = HttpResponse<Body>;
    type Error = Infallible;
    type Future = BoxFuture<HttpResponse<Body>, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequest<Body>) -> Self::Future {
        let calls = self.0.clone();
        Box::pin(async move {
            let mut grpc = Grpc::new(RawCodec).max_decoding_message_size(usize::MAX);
            Ok(match request.uri().path() {
                UNARY_PATH => grpc.unary(UnaryHandler(calls), request).await,
                STREAMING_PATH => grpc.client_streaming(StreamingHandler(calls), request).await,
                _ => Status::unimplemented("unknown method").into_http(),
            })
        })
    }
}

/// Handler that passes a message on and waits for its answer.
struct UnaryHandler(mpsc::Sender<Call>);

impl UnaryService<Bytes> for UnaryHandler {
    type Response = Bytes;
    type Future = BoxFuture<Response<Bytes>, Status>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let calls = self.0.clone();
        Box::pin(async move {
            let (waiting, answer) = oneshot::channel();
            let passed_on = calls.send(Call::Unary(request.into_inner(), waiting)).await;
            passed_on.map_err(|_| no_receiver())?;
            answer.await.map(Response::new).map_err(|_| no_receiver())
        })
    }
}

/// Handler that passes a stream of messages on. It answers once the server has stopped reading them, which
/// never happens during a run.
struct StreamingHandler(mpsc::Sender<Call>);

impl ClientStreamingService<Bytes> for StreamingHandler {
    type Response = Bytes;
    type Future = BoxFuture<Response<Bytes>, Status>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        let calls = self.0.clone();
        Box::pin(async move {
            let passed_on = calls.send(Call::Streaming(request.into_inner())).await;
            passed_on.map_err(|_| no_receiver())?;
            calls.closed().await;
            Ok(Response::new(Bytes::new()))
        })
    }
}

fn no_receiver() -> Status {
    Status::unavailable("the receiver has stopped")
}
