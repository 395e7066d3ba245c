//! `iceoryx2-pubsub`: publish-subscribe with iceoryx2, one service in each direction.

use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::prelude::BackpressureStrategy;
use iceoryx2::sample::Sample;
use iceoryx2::sample_mut::SampleMut;
use iceoryx2::service::port_factory::publish_subscribe;
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

/// Facts about `iceoryx2-pubsub`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "iceoryx2-pubsub",
    about: "publish-subscribe of iceoryx2: samples in shared memory, polled for",
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
        how_it_works: "A service for each direction, with one publisher and one subscriber, of samples \
            that are slices of bytes. To send, a party borrows a place in its publisher's shared memory, \
            fills it and publishes it: what goes through a lock-free queue, in shared memory too, is where \
            the sample lies. The subscriber reads it there, and gives the place back through a second \
            queue. api=copy copies from a buffer of the sender's and into one of the receiver's; \
            api=loan composes and reads samples in place, and copies nothing, save to echo a message: \
            what is received belongs to the publisher, and cannot be sent. The library has no receive \
            that waits: parties look again and again, with a PAUSE in between on CPUs of their own, else \
            with sched_yield. A stream has 8 samples on their way at most, an exchange one. Where the \
            subscriber's queue is full, publishing waits (RetryUntilDelivered): with sched_yield for \
            10000 looks, then with sleeps of 100 us, and after 100 of those of 10 ms.",
        message_boundaries: "Kept: one sample, one message.",
        minimum_kernel: "Any, with a tmpfs at /dev/shm; 5.14 populates the memory beforehand.",
        defaults_that_matter: "By default the library has a queue of two samples, of which the oldest is \
            overwritten when it is full (safe overflow); nothing may be lost here, so it is off. A \
            service has room for one publisher, one subscriber and two nodes, not for the usual 2, 8 \
            and 20. Parties connect one after the other: at the same moment, the library may lose one. The event service, on which a receiver could sleep, is not used: a party that waits \
            takes all of its CPU. Nobody looks for dead nodes, and a killed peer is not noticed. Nodes are \
            counted in each process, not in the file for that (global_mgmt), which the library opens to all \
            users. Names \
            are private to the run, below TMPDIR and in /dev/shm, whose size bounds messages. Calls of \
            the system are the library's, and not counted; on CPUs of their own parties make none but \
            where a queue is full. --kernel-buffer does not apply.",
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
    execute: iceoryx::execute::<PubSub>,
    ..Mechanism::BASE
};

/// Samples in addition to those that wait in the queue: one being composed and one being read.
const IN_HAND: usize = 2;

fn places(workload: Kind) -> usize {
    if workload.is_answered() { 1 } else { STREAM_PLACES }
}

fn held(setup: &Setup<'_>) -> u64 {
    let is_answered = setup.workload.is_answered();
    let publishers = if is_answered { 2 } else { 1 };
    publishers * (places(setup.workload) + IN_HAND) as u64
}

type Service = publish_subscribe::PortFactory<OwnersService, [u8], ()>;

/// Opens or creates the service for messages from `side`.
fn service_from(side: Side, node: &Node, part: Part) -> Result<Service, Errno> {
    let name = match side {
        Side::Sender => "there",
        Side::Receiver => "back",
    };
    node.service_builder(&name.try_into().map_err(unmade)?)
        .publish_subscribe::<[u8]>()
        .enable_safe_overflow(false)
        .subscriber_max_buffer_size(places(part.workload))
        .subscriber_max_borrowed_samples(1)
        .max_publishers(1)
        .max_subscribers(1)
        .max_nodes(2)
        .open_or_create()
        .map_err(unmade)
}

/// Publisher of a peer, and its loan.
#[derive(Debug)]
struct Outgoing {
    loan: Option<SampleMut<OwnersService, [u8], ()>>,
    publisher: Publisher<OwnersService, [u8], ()>,
}

impl Outgoing {
    fn new(service: &Service, part: Part) -> Result<Self, Errno> {
        let publisher = service
            .publisher_builder()
            .initial_max_slice_len(part.message_bytes)
            .max_loaned_samples(1)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()
            .map_err(unmade)?;
        Ok(Self { loan: None, publisher })
    }
}

/// Subscriber of a peer, and the sample that it reads.
#[derive(Debug)]
struct Incoming {
    taken: Option<Sample<OwnersService, [u8], ()>>,
    subscriber: Subscriber<OwnersService, [u8], ()>,
}

impl Incoming {
    fn new(service: &Service) -> Result<Self, Errno> {
        let subscriber = service.subscriber_builder().create().map_err(unmade)?;
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
fn sent(sample: SampleMut<OwnersService, [u8], ()>) -> Result<(), Errno> {
    match sample.send().map_err(not_sent)? {
        0 => Err(Errno::PIPE),
        _ => Ok(()),
    }
}

impl Ports for PubSub {
    fn held(setup: &Setup<'_>) -> u64 {
        held(setup)
    }

    fn make(node: &Node, part: Part) -> Result<Self, Errno> {
        let outgoing = (part.workload.is_answered() || part.side == Side::Sender)
            .then(|| Outgoing::new(&service_from(part.side, node, part)?, part))
            .transpose()?;
        let incoming = (part.workload.is_answered() || part.side == Side::Receiver)
            .then(|| Incoming::new(&service_from(part.side.other(), node, part)?))
            .transpose()?;
        Ok(Self { outgoing, incoming })
    }

    fn connect(&self) -> Result<(), Errno> {
        let updated = |port: &dyn UpdateConnections| port.update_connections().map_err(unmade);
        self.outgoing.as_ref().map_or(Ok(()), |outgoing| updated(&outgoing.publisher))?;
        self.incoming.as_ref().map_or(Ok(()), |incoming| updated(&incoming.subscriber))
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), Errno> {
        let outgoing = self.outgoing.as_ref().ok_or(Errno::NOTCONN)?;
        let place = outgoing.publisher.loan_slice_uninit(message.len()).map_err(not_lent)?;
        sent(place.write_from_slice(message))
    }

    #[inline]
    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Errno> {
        let incoming = self.incoming.as_ref().ok_or(Errno::NOTCONN)?;
        let sample = incoming.subscriber.receive().map_err(unmade)?;
        sample.map(|sample| copied(sample.payload(), into)).transpose()
    }

    #[inline]
    fn loan(&mut self, bytes: usize) -> Result<(), Errno> {
        let outgoing = self.outgoing.as_mut().ok_or(Errno::NOTCONN)?;
        let place = outgoing.publisher.loan_slice_uninit(bytes).map_err(not_lent)?;
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
        sent(loan.ok_or(Errno::INVAL)?)
    }

    #[inline]
    fn look(&mut self) -> Result<Option<usize>, Errno> {
        let incoming = self.incoming.as_mut().ok_or(Errno::NOTCONN)?;
        incoming.taken = incoming.subscriber.receive().map_err(unmade)?;
        Ok(incoming.taken.as_ref().map(|sample| sample.payload().len()))
    }

    #[inline]
    fn taken(&self) -> &[u8] {
        let taken = self.incoming.as_ref().and_then(|incoming| incoming.taken.as_ref());
        taken.map_or(&[], |sample| sample.payload())
    }

    fn carry_over(&mut self) {
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
