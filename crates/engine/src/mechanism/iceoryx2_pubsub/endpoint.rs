//! Implementation of `iceoryx2-pubsub`.

use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::prelude::BackpressureStrategy;
use iceoryx2::sample::Sample;
use iceoryx2::sample_mut::SampleMut;
use iceoryx2::service::port_factory::publish_subscribe;
use rustix::io::Errno;

use crate::channel::{Mechanism, Setup};
use crate::mechanism::iceoryx::{
    self, Node, OwnerOnlyService, PeerSide, PortConfig, Ports, copy_out, library_error, loan_error,
    send_error, waiting_messages,
};

/// The part of `iceoryx2-pubsub` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: iceoryx::available,
    limit: |setup| iceoryx::limit(in_flight_messages(setup)),
    in_flight_messages,
    execute: iceoryx::execute::<PubSub>,
    ..Mechanism::BASE
};

/// Samples in addition to those that wait in the queue: one being composed and one being read.
const LOANED_SAMPLES: usize = 2;

fn in_flight_messages(setup: &Setup<'_>) -> u64 {
    let is_answered = setup.workload.is_answered();
    let publishers = if is_answered { 2 } else { 1 };
    publishers * (waiting_messages(setup.workload) + LOANED_SAMPLES) as u64
}

type PubSubService = publish_subscribe::PortFactory<OwnerOnlyService, [u8], ()>;

/// Opens or creates the service for messages from `side`.
fn service_from(side: PeerSide, node: &Node, part: PortConfig) -> Result<PubSubService, Errno> {
    let name = match side {
        PeerSide::Sender => "there",
        PeerSide::Receiver => "back",
    };
    node.service_builder(&name.try_into().map_err(library_error)?)
        .publish_subscribe::<[u8]>()
        .enable_safe_overflow(false)
        .subscriber_max_buffer_size(waiting_messages(part.workload))
        .subscriber_max_borrowed_samples(1)
        .max_publishers(1)
        .max_subscribers(1)
        .max_nodes(2)
        .open_or_create()
        .map_err(library_error)
}

/// Publisher of a peer, and its loan.
#[derive(Debug)]
struct Outgoing {
    loan: Option<SampleMut<OwnerOnlyService, [u8], ()>>,
    publisher: Publisher<OwnerOnlyService, [u8], ()>,
}

impl Outgoing {
    fn new(service: &PubSubService, part: PortConfig) -> Result<Self, Errno> {
        let publisher = service
            .publisher_builder()
            .initial_max_slice_len(part.message_bytes)
            .max_loaned_samples(1)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()
            .map_err(library_error)?;
        Ok(Self { loan: None, publisher })
    }
}

/// Subscriber of a peer, and the sample that it reads.
#[derive(Debug)]
struct Incoming {
    taken: Option<Sample<OwnerOnlyService, [u8], ()>>,
    subscriber: Subscriber<OwnerOnlyService, [u8], ()>,
}

impl Incoming {
    fn new(service: &PubSubService) -> Result<Self, Errno> {
        let subscriber = service.subscriber_builder().create().map_err(library_error)?;
        Ok(Self { taken: None, subscriber })
    }
}

/// The ports of one peer; in a stream it has only one of them.
#[derive(Debug)]
struct PubSub {
    outgoing: Option<Outgoing>,
    incoming: Option<Incoming>,
}

/// Sends `sample`; `EPIPE` if there is no subscriber.
#[inline]
fn send_sample(sample: SampleMut<OwnerOnlyService, [u8], ()>) -> Result<(), Errno> {
    match sample.send().map_err(send_error)? {
        0 => Err(Errno::PIPE),
        _ => Ok(()),
    }
}

impl Ports for PubSub {
    fn in_flight_messages(setup: &Setup<'_>) -> u64 {
        in_flight_messages(setup)
    }

    fn create(node: &Node, part: PortConfig) -> Result<Self, Errno> {
        let outgoing = (part.workload.is_answered() || part.side == PeerSide::Sender)
            .then(|| Outgoing::new(&service_from(part.side, node, part)?, part))
            .transpose()?;
        let incoming = (part.workload.is_answered() || part.side == PeerSide::Receiver)
            .then(|| Incoming::new(&service_from(part.side.other(), node, part)?))
            .transpose()?;
        Ok(Self { outgoing, incoming })
    }

    fn connect(&self) -> Result<(), Errno> {
        let update =
            |port: &dyn UpdateConnections| port.update_connections().map_err(library_error);
        self.outgoing.as_ref().map_or(Ok(()), |outgoing| update(&outgoing.publisher))?;
        self.incoming.as_ref().map_or(Ok(()), |incoming| update(&incoming.subscriber))
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), Errno> {
        let outgoing = self.outgoing.as_ref().ok_or(Errno::NOTCONN)?;
        let place = outgoing.publisher.loan_slice_uninit(message.len()).map_err(loan_error)?;
        send_sample(place.write_from_slice(message))
    }

    #[inline]
    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Errno> {
        let incoming = self.incoming.as_ref().ok_or(Errno::NOTCONN)?;
        let sample = incoming.subscriber.receive().map_err(library_error)?;
        sample.map(|sample| copy_out(sample.payload(), into)).transpose()
    }

    #[inline]
    fn loan(&mut self, bytes: usize) -> Result<(), Errno> {
        let outgoing = self.outgoing.as_mut().ok_or(Errno::NOTCONN)?;
        let place = outgoing.publisher.loan_slice_uninit(bytes).map_err(loan_error)?;
        // SAFETY: shared memory begins as zeros, and any byte is a `u8`.
        outgoing.loan = Some(unsafe { place.assume_init() });
        Ok(())
    }

    #[inline]
    fn loaned(&mut self) -> &mut [u8] {
        let loan = self.outgoing.as_mut().and_then(|outgoing| outgoing.loan.as_mut());
        loan.map_or(&mut [], |loan| loan.payload_mut())
    }

    #[inline]
    fn send_loan(&mut self) -> Result<(), Errno> {
        let loan = self.outgoing.as_mut().and_then(|outgoing| outgoing.loan.take());
        send_sample(loan.ok_or(Errno::INVAL)?)
    }

    #[inline]
    fn poll(&mut self) -> Result<Option<usize>, Errno> {
        let incoming = self.incoming.as_mut().ok_or(Errno::NOTCONN)?;
        incoming.taken = incoming.subscriber.receive().map_err(library_error)?;
        Ok(incoming.taken.as_ref().map(|sample| sample.payload().len()))
    }

    #[inline]
    fn taken(&self) -> &[u8] {
        let taken = self.incoming.as_ref().and_then(|incoming| incoming.taken.as_ref());
        taken.map_or(&[], |sample| sample.payload())
    }

    fn copy_taken(&mut self) {
        let (Some(outgoing), Some(incoming)) = (&mut self.outgoing, &self.incoming) else { return };
        if let (Some(loan), Some(taken)) = (&mut outgoing.loan, &incoming.taken) {
            loan.payload_mut().copy_from_slice(taken.payload());
        }
    }

    #[inline]
    fn release(&mut self) {
        if let Some(incoming) = &mut self.incoming {
            incoming.taken = None;
        }
    }
}
