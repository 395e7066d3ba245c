//! `iceoryx2-reqres`: request-response with iceoryx2.

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
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::workload::Kind;
use rustix::io::Errno;

use super::iceoryx::{
    self, API, FATE, ICEORYX2, MODES, Node, OWNERS_ALONE, OwnersService, Part, Ports,
    STREAM_PLACES, Side, copied, not_lent, not_sent, unmade,
};
use crate::channel::{Documentation, Mechanism, Setup};

/// Facts about `iceoryx2-reqres`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "iceoryx2-reqres",
    about: "request-response of iceoryx2: both in shared memory, polled for",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Memory,
    waits: PeerWait::Spins,
    payload: FATE,
    peer_death: PeerDeath::NotTold,
    unrelated: Unrelated::No(OWNERS_ALONE),
    helper: Helper::Nobody,
    options: &[API],
    modes: &MODES,
    documentation: Documentation {
        how_it_works: "A service with one client, the sender, and one server, the receiver; requests and \
            responses are slices of bytes. They lie in shared memory, that of the client and that of \
            the server, and are sent as in iceoryx2-pubsub. The server answers the request that it \
            holds, and lets go of it when the response is sent. In a stream nothing is answered: the \
            client gives up each response as it sends the request, which the server receives all the \
            same (fire-and-forget requests), lets go of, and never answers; 8 requests are on their way \
            at most, and a client that finds the server's queue full waits as in iceoryx2-pubsub. \
            api=copy and api=loan are as there: an echo is copied from the request to the response. A \
            party that waits for a message looks again and again, with a PAUSE in between on CPUs of \
            their own, else with sched_yield.",
        message_boundaries: "Kept: one request or response, one message.",
        minimum_kernel: "Any, with a tmpfs at /dev/shm; 5.14 populates the memory beforehand.",
        defaults_that_matter: "As for iceoryx2-pubsub: neither requests nor responses may be overwritten \
            (no safe overflow), one client, one server and two nodes, no event service, names private \
            to the run, calls of the system not counted, --kernel-buffer does not apply. The library \
            has room for three requests and six responses of the largest size where each is answered, \
            for 17 requests in a stream, and it allocates for each request that the server receives.",
        references: &[
            "[iceoryx2](https://docs.rs/iceoryx2)",
            "[on polling, and on its events](https://github.com/eclipse-iceoryx/iceoryx2/discussions/1222)",
            "man:shm_overview(7)",
            "man:sched_yield(2)",
        ],
    },
    availability: iceoryx::available,
    limit: |setup| iceoryx::limit(held(setup)),
    holds: held,
    library: Some(ICEORYX2),
    execute: iceoryx::execute::<ReqRes>,
    ..Mechanism::BASE
};

/// Returns the maximum number of requests in flight.
fn places(workload: Kind) -> usize {
    if workload.is_answered() { 1 } else { STREAM_PLACES }
}

/// Returns the number of messages for which the library has memory: twice as many requests as may be in
/// flight, plus one being composed. With answers, each of those requests also has three responses: one
/// waiting, one being read and one being composed.
fn held(setup: &Setup<'_>) -> u64 {
    let is_answered = setup.workload.is_answered();
    let requests = 2 * places(setup.workload) as u64;
    if is_answered { requests + 1 + 3 * requests } else { requests + 1 }
}

type Service = request_response::PortFactory<OwnersService, [u8], (), [u8], ()>;
type Composed = RequestMut<OwnersService, [u8], (), [u8], ()>;
type Pending = PendingResponse<OwnersService, [u8], (), [u8], ()>;
type Active = ActiveRequest<OwnersService, [u8], (), [u8], ()>;

fn service(node: &Node, part: Part) -> Result<Service, Errno> {
    node.service_builder(&"calls".try_into().map_err(unmade)?)
        .request_response::<[u8], [u8]>()
        .enable_safe_overflow_for_requests(false)
        .enable_safe_overflow_for_responses(false)
        .enable_fire_and_forget_requests(true)
        .max_active_requests_per_client(places(part.workload))
        .max_loaned_requests(1)
        .max_response_buffer_size(1)
        .max_borrowed_responses_per_pending_response(1)
        .max_clients(1)
        .max_servers(1)
        .max_nodes(2)
        .open_or_create()
        .map_err(unmade)
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
    loan: Option<Composed>,
    pending: Option<Pending>,
    taken: Option<Response<OwnersService, [u8], ()>>,
    client: Client<OwnersService, [u8], (), [u8], ()>,
    is_answered: bool,
}

/// The server, and the messages that it holds.
#[derive(Debug)]
struct Callee {
    loan: Option<ResponseMut<OwnersService, [u8], ()>>,
    /// The request to be answered. Once it has been read, `is_taken` is false.
    request: Option<Active>,
    is_taken: bool,
    server: Server<OwnersService, [u8], (), [u8], ()>,
    is_answered: bool,
}

impl Caller {
    fn make(service: &Service, part: Part) -> Result<Self, Errno> {
        let client = service
            .client_builder()
            .initial_max_slice_len(part.message_bytes)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()
            .map_err(unmade)?;
        let is_answered = part.workload.is_answered();
        Ok(Self { loan: None, pending: None, taken: None, client, is_answered })
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), Errno> {
        let place = self.client.loan_slice_uninit(message.len()).map_err(not_lent)?;
        self.ask(place.write_from_slice(message))
    }

    #[inline]
    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Errno> {
        let pending = self.pending.as_ref().ok_or(Errno::INVAL)?;
        let Some(response) = pending.receive().map_err(unmade)? else { return Ok(None) };
        let bytes = copied(response.payload(), into)?;
        drop(response);
        self.pending = None;
        Ok(Some(bytes))
    }

    #[inline]
    fn send_loan(&mut self) -> Result<(), Errno> {
        let loan = self.loan.take().ok_or(Errno::INVAL)?;
        self.ask(loan)
    }

    #[inline]
    fn ask(&mut self, request: Composed) -> Result<(), Errno> {
        let pending = request.send().map_err(not_asked)?;
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
        self.taken = pending.receive().map_err(unmade)?;
        Ok(self.taken.as_ref().map(|response| response.payload().len()))
    }
}

impl Callee {
    fn make(service: &Service, part: Part) -> Result<Self, Errno> {
        let server = service
            .server_builder()
            .initial_max_slice_len(if part.workload.is_answered() { part.message_bytes } else { 1 })
            .max_loaned_responses_per_request(1)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()
            .map_err(unmade)?;
        let is_answered = part.workload.is_answered();
        Ok(Self { loan: None, request: None, is_taken: false, server, is_answered })
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), Errno> {
        let request = self.request.take().ok_or(Errno::INVAL)?;
        let place = request.loan_slice_uninit(message.len()).map_err(not_lent)?;
        place.write_from_slice(message).send().map_err(not_sent)
    }

    /// Keeps a request that is to be answered until it has been answered.
    #[inline]
    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Errno> {
        let Some(request) = self.server.receive().map_err(unmade)? else { return Ok(None) };
        let bytes = copied(request.payload(), into)?;
        self.request = self.is_answered.then_some(request);
        Ok(Some(bytes))
    }

    #[inline]
    fn send_loan(&mut self) -> Result<(), Errno> {
        self.loan.take().ok_or(Errno::INVAL)?.send().map_err(not_sent)?;
        self.request = None;
        Ok(())
    }

    #[inline]
    fn look(&mut self) -> Result<Option<usize>, Errno> {
        self.request = self.server.receive().map_err(unmade)?;
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
    fn held(setup: &Setup<'_>) -> u64 {
        held(setup)
    }

    fn make(node: &Node, part: Part) -> Result<Self, Errno> {
        let service = service(node, part)?;
        match part.side {
            Side::Sender => Caller::make(&service, part).map(Self::Caller),
            Side::Receiver => Callee::make(&service, part).map(Self::Callee),
        }
    }

    fn connect(&self) -> Result<(), Errno> {
        match self {
            Self::Caller(caller) => caller.client.update_connections().map_err(unmade),
            Self::Callee(callee) => callee.server.update_connections().map_err(unmade),
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
                let place = caller.client.loan_slice_uninit(bytes).map_err(not_lent)?;
                // SAFETY: shared memory begins as zeros, and any byte is a `u8`.
                caller.loan = Some(unsafe { place.assume_init() });
            }
            Self::Callee(callee) => {
                let request = callee.request.as_ref().ok_or(Errno::INVAL)?;
                let place = request.loan_slice_uninit(bytes).map_err(not_lent)?;
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
    fn look(&mut self) -> Result<Option<usize>, Errno> {
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
    fn carry_over(&mut self) {
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
fn not_asked(error: RequestSendError) -> Errno {
    match error {
        RequestSendError::ExceedsMaxActiveRequests => Errno::BUSY,
        RequestSendError::SendError(error) => not_sent(error),
    }
}
