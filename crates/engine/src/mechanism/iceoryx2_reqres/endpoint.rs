//! Implementation of `iceoryx2-reqres`.

use iceoryx2::active_request::ActiveRequest;
use iceoryx2::pending_response::PendingResponse;
use iceoryx2::port::client::{Client, RequestSendError};
use iceoryx2::port::server::Server;
use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::prelude::BackpressureStrategy;
use iceoryx2::request_mut::RequestMut;
use iceoryx2::response::Response;
use iceoryx2::response_mut::ResponseMut;
use iceoryx2::service::port_factory::request_response;
use rustix::io::Errno;

use crate::channel::{Mechanism, Setup};
use crate::mechanism::iceoryx::{
    self, Node, OwnerOnlyService, PeerSide, PortConfig, Ports, copy_out, library_error, loan_error,
    send_error, waiting_messages,
};

/// The part of `iceoryx2-reqres` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: iceoryx::available,
    limit: |setup| iceoryx::limit(in_flight_messages(setup)),
    in_flight_messages,
    execute: iceoryx::execute::<ReqRes>,
    ..Mechanism::BASE
};

/// Returns the number of messages for which the library has memory: twice as many requests as may be in
/// flight, plus one being composed. With answers, each of those requests also has three responses: one
/// waiting, one being read and one being composed.
fn in_flight_messages(setup: &Setup<'_>) -> u64 {
    let is_answered = setup.workload.is_answered();
    let requests = 2 * waiting_messages(setup.workload) as u64;
    if is_answered { requests + 1 + 3 * requests } else { requests + 1 }
}

type ReqResService = request_response::PortFactory<OwnerOnlyService, [u8], (), [u8], ()>;

type LoanedRequest = RequestMut<OwnerOnlyService, [u8], (), [u8], ()>;

type PendingReply = PendingResponse<OwnerOnlyService, [u8], (), [u8], ()>;

type ReceivedRequest = ActiveRequest<OwnerOnlyService, [u8], (), [u8], ()>;

fn service(node: &Node, part: PortConfig) -> Result<ReqResService, Errno> {
    node.service_builder(&"calls".try_into().map_err(library_error)?)
        .request_response::<[u8], [u8]>()
        .enable_safe_overflow_for_requests(false)
        .enable_safe_overflow_for_responses(false)
        .enable_fire_and_forget_requests(true)
        .max_active_requests_per_client(waiting_messages(part.workload))
        .max_loaned_requests(1)
        .max_response_buffer_size(1)
        .max_borrowed_responses_per_pending_response(1)
        .max_clients(1)
        .max_servers(1)
        .max_nodes(2)
        .open_or_create()
        .map_err(library_error)
}

/// The ports of one peer.
#[derive(Debug)]
enum ReqRes {
    Caller(Caller),
    Callee(Callee),
}

/// The client, and the messages that it holds.
#[derive(Debug)]
struct Caller {
    loan: Option<LoanedRequest>,
    pending: Option<PendingReply>,
    taken: Option<Response<OwnerOnlyService, [u8], ()>>,
    client: Client<OwnerOnlyService, [u8], (), [u8], ()>,
    is_answered: bool,
}

/// The server, and the messages that it holds.
#[derive(Debug)]
struct Callee {
    loan: Option<ResponseMut<OwnerOnlyService, [u8], ()>>,
    /// The request to be answered. Once it has been read, `is_taken` is false.
    request: Option<ReceivedRequest>,
    is_taken: bool,
    server: Server<OwnerOnlyService, [u8], (), [u8], ()>,
    is_answered: bool,
}

impl Caller {
    fn new(service: &ReqResService, part: PortConfig) -> Result<Self, Errno> {
        let client = service
            .client_builder()
            .initial_max_slice_len(part.message_bytes)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()
            .map_err(library_error)?;
        let is_answered = part.workload.is_answered();
        Ok(Self { loan: None, pending: None, taken: None, client, is_answered })
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), Errno> {
        let place = self.client.loan_slice_uninit(message.len()).map_err(loan_error)?;
        self.send_request(place.write_from_slice(message))
    }

    #[inline]
    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Errno> {
        let pending = self.pending.as_ref().ok_or(Errno::INVAL)?;
        let Some(response) = pending.receive().map_err(library_error)? else { return Ok(None) };
        let bytes = copy_out(response.payload(), into)?;
        drop(response);
        self.pending = None;
        Ok(Some(bytes))
    }

    #[inline]
    fn send_loan(&mut self) -> Result<(), Errno> {
        let loan = self.loan.take().ok_or(Errno::INVAL)?;
        self.send_request(loan)
    }

    #[inline]
    fn send_request(&mut self, request: LoanedRequest) -> Result<(), Errno> {
        let pending = request.send().map_err(request_error)?;
        if pending.number_of_server_connections() == 0 {
            return Err(Errno::PIPE);
        }
        // A stream drops the pending response at once.
        self.pending = self.is_answered.then_some(pending);
        Ok(())
    }

    #[inline]
    fn look(&mut self) -> Result<Option<usize>, Errno> {
        let pending = self.pending.as_ref().ok_or(Errno::INVAL)?;
        self.taken = pending.receive().map_err(library_error)?;
        Ok(self.taken.as_ref().map(|response| response.payload().len()))
    }
}

impl Callee {
    fn new(service: &ReqResService, part: PortConfig) -> Result<Self, Errno> {
        let server = service
            .server_builder()
            .initial_max_slice_len(if part.workload.is_answered() { part.message_bytes } else { 1 })
            .max_loaned_responses_per_request(1)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()
            .map_err(library_error)?;
        let is_answered = part.workload.is_answered();
        Ok(Self { loan: None, request: None, is_taken: false, server, is_answered })
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), Errno> {
        let request = self.request.take().ok_or(Errno::INVAL)?;
        let place = request.loan_slice_uninit(message.len()).map_err(loan_error)?;
        place.write_from_slice(message).send().map_err(send_error)
    }

    /// Keeps a request that is to be answered until it has been answered.
    #[inline]
    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Errno> {
        let Some(request) = self.server.receive().map_err(library_error)? else { return Ok(None) };
        let bytes = copy_out(request.payload(), into)?;
        self.request = self.is_answered.then_some(request);
        Ok(Some(bytes))
    }

    #[inline]
    fn send_loan(&mut self) -> Result<(), Errno> {
        self.loan.take().ok_or(Errno::INVAL)?.send().map_err(send_error)?;
        self.request = None;
        Ok(())
    }

    #[inline]
    fn look(&mut self) -> Result<Option<usize>, Errno> {
        self.request = self.server.receive().map_err(library_error)?;
        self.is_taken = self.request.is_some();
        Ok(self.request.as_ref().map(|request| request.payload().len()))
    }

    #[inline]
    fn release(&mut self) {
        self.is_taken = false;
        if !self.is_answered {
            self.request = None;
        }
    }
}

impl Ports for ReqRes {
    fn in_flight_messages(setup: &Setup<'_>) -> u64 {
        in_flight_messages(setup)
    }

    fn create(node: &Node, part: PortConfig) -> Result<Self, Errno> {
        let service = service(node, part)?;
        match part.side {
            PeerSide::Sender => Caller::new(&service, part).map(Self::Caller),
            PeerSide::Receiver => Callee::new(&service, part).map(Self::Callee),
        }
    }

    fn connect(&self) -> Result<(), Errno> {
        match self {
            Self::Caller(caller) => caller.client.update_connections().map_err(library_error),
            Self::Callee(callee) => callee.server.update_connections().map_err(library_error),
        }
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), Errno> {
        match self {
            Self::Caller(caller) => caller.send(message),
            Self::Callee(callee) => callee.send(message),
        }
    }

    #[inline]
    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Errno> {
        match self {
            Self::Caller(caller) => caller.receive(into),
            Self::Callee(callee) => callee.receive(into),
        }
    }

    #[inline]
    fn loan(&mut self, bytes: usize) -> Result<(), Errno> {
        match self {
            Self::Caller(caller) => {
                let place = caller.client.loan_slice_uninit(bytes).map_err(loan_error)?;
                // SAFETY: shared memory begins as zeros, and any byte is a `u8`.
                caller.loan = Some(unsafe { place.assume_init() });
            }
            Self::Callee(callee) => {
                let request = callee.request.as_ref().ok_or(Errno::INVAL)?;
                let place = request.loan_slice_uninit(bytes).map_err(loan_error)?;
                // SAFETY: shared memory begins as zeros, and any byte is a `u8`.
                callee.loan = Some(unsafe { place.assume_init() });
            }
        }
        Ok(())
    }

    #[inline]
    fn loaned(&mut self) -> &mut [u8] {
        match self {
            Self::Caller(caller) => caller.loan.as_mut().map_or(&mut [], |loan| loan.payload_mut()),
            Self::Callee(callee) => callee.loan.as_mut().map_or(&mut [], |loan| loan.payload_mut()),
        }
    }

    #[inline]
    fn send_loan(&mut self) -> Result<(), Errno> {
        match self {
            Self::Caller(caller) => caller.send_loan(),
            Self::Callee(callee) => callee.send_loan(),
        }
    }

    #[inline]
    fn poll(&mut self) -> Result<Option<usize>, Errno> {
        match self {
            Self::Caller(caller) => caller.look(),
            Self::Callee(callee) => callee.look(),
        }
    }

    #[inline]
    fn taken(&self) -> &[u8] {
        match self {
            Self::Caller(caller) => {
                caller.taken.as_ref().map_or(&[], |response| response.payload())
            }
            Self::Callee(Callee { request: Some(request), is_taken: true, .. }) => {
                request.payload()
            }
            Self::Callee(_) => &[],
        }
    }

    /// Only the callee answers, so only it carries messages over.
    fn copy_taken(&mut self) {
        let Self::Callee(callee) = self else { return };
        if let (Some(loan), Some(request)) = (&mut callee.loan, &callee.request) {
            loan.payload_mut().copy_from_slice(request.payload());
        }
    }

    #[inline]
    fn release(&mut self) {
        match self {
            Self::Caller(caller) => (caller.taken, caller.pending) = (None, None),
            Self::Callee(callee) => callee.release(),
        }
    }
}

#[cold]
fn request_error(error: RequestSendError) -> Errno {
    match error {
        RequestSendError::ExceedsMaxActiveRequests => Errno::BUSY,
        RequestSendError::SendError(error) => send_error(error),
    }
}
