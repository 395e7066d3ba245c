//! `shm-ring`: a ring in shared memory for each direction.

use std::io;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::wait::Wait;
use ipcperf_model::{Failure, Mode, Role, RunSpec, WorkerReport};
use ipcperf_ring::{
    Consumer, Error, Options, Producer, WaitStrategy, ring, with_remote_consumer,
    with_remote_producer,
};
use rustix::io::Errno;

use super::ring_sides;
use super::ring_size::{Api, Caches, RingSize};
use super::setup_failure::setup_failure;
use crate::channel::{
    Blocking, Channel, Documentation, Endpoint, Granted, ManyPeers, Mechanism, Meet, Meeting,
    Opened, OptionSpec, OptionValues, PeerPlacement, ProgramPart, ProgramReport, Setup,
};
use crate::payload_check::MessageDirection;
use crate::platform::memory::shared_memory_available;
use crate::worker;

/// Option that selects copying or in-place access.
const API: OptionSpec = OptionSpec {
    name: "api",
    about: "copy: copy messages in and out; loan: write and read messages in place",
    values: OptionValues::OneOf(&["copy", "loan"]),
    default: "copy",
};

/// Option that selects how a peer waits.
const WAIT: OptionSpec = OptionSpec {
    name: "wait",
    about: "how a peer waits for the other one: spin for 20 µs (for up to 1 ms if the last sleeps were shorter than 1 ms), \
        then sleep on a futex (adaptive), sleep on a futex at once (block), spin and never sleep (spin), or spin for some \
        time and then sleep (spin:20us). No effect in mode 1thread",
    values: OptionValues::Waits(&["adaptive", "block", "spin"]),
    default: "adaptive",
};

/// Option that sets how many bytes a stream publishes at once.
const BATCH: OptionSpec = OptionSpec {
    name: "batch",
    about: "number of bytes after which the messages of a stream become visible to the receiver; \
        0: each message becomes visible as soon as it is sent",
    values: OptionValues::Number(0..=1 << 20),
    default: "0",
};

/// Largest ring: its memory is present from the start.
const MAX_CAPACITY_BYTES: u64 = 256 << 20;

/// Option that sets the size of the rings.
const CAPACITY: OptionSpec = OptionSpec {
    name: "capacity",
    about: "capacity of each ring, in bytes, rounded up to a power of two and to a page; auto: as described above. A message \
        takes 8 bytes more than its size",
    values: OptionValues::BytesUpTo(MAX_CAPACITY_BYTES),
    default: "auto",
};

/// Facts about `shm-ring`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "shm-ring",
    about: "ring of messages in shared memory",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Memory,
    waits: PeerWait::ByOption { option: WAIT.name, spins: &["adaptive", "spin"] },
    payload: PayloadTransfer::ByOption { option: API.name, handed_over: "loan" },
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::Yes,
    helper: Helper::None,
    many_peers: ManyPeers::Polled,
    options: &[API, WAIT, BATCH, CAPACITY],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "Each direction has a ring in a memfd. The ring is mapped twice, with the second mapping \
            directly behind the first. A message that reaches beyond the end of the ring is therefore contiguous in \
            memory. The length of a message is directly in front of its payload, so that a short message needs only \
            one cache line. The sender stores the length last. The stored length shows the receiver that the message \
            is complete. The peers make system calls only if one of them has to wait.\n\n\
            - api=copy: messages are copied into the ring and out of it. If the peers share one CPU or one thread, \
            each message is passed as a whole. Otherwise, long messages are passed in chunks, so that both peers \
            copy at the same time. In round trips, a chunk has 24 KiB and the ring has 256 KiB. In streams, a chunk \
            has 64 KiB and the ring has 1 MiB.\n\
            - api=loan: messages are composed and read in place. Messages of up to 16 KiB are in the ring. Longer \
            messages are in a pool of four slots; the slot that was freed last is used next. An echo is copied from \
            one ring to the other.\n\
            - Separate caches: if the peers have separate CPUs, ipcperf first measures how long a cache line takes from \
            one CPU to the other and back. If this round trip takes at least 80 ns, the CPUs are not two hardware \
            threads of one core, and the rings are larger: with api=copy, 8 MiB for streams and 2 MiB for round trips; \
            with api=loan, 16 MiB for streams and 4 MiB for round trips. With api=loan, messages of up to 4 MiB \
            (streams) or 1 MiB (round trips) are then in the ring instead of in the pool. Before a CPU can write to \
            memory that another one has just read, the private cache of the other one must give it up, which is \
            several times as slow as copying. A ring that is larger than this cache has been evicted from it before it \
            is written again.\n\
            - Mode 2exec: the receiver creates both rings and passes the descriptors of their memory to the sender \
            (SCM_RIGHTS), over a Unix domain socket with a path.\n\
            - capacity=BYTES: the rings have this size instead. A small ring shows how a program behaves whose peer may \
            be only some messages ahead.\n\
            - batch=BYTES: in a stream, messages become visible to the receiver in groups of BYTES bytes.",
        message_boundaries: "Kept: each receive returns one message.",
        minimum_kernel: "Linux 3.17 (memfd_create). Linux 5.14 and newer populate the mapping \
            faster (MADV_POPULATE_WRITE).",
        defaults_that_matter: "Spinning needs a CPU for each peer: if the peers share one CPU, \
            wait=adaptive sleeps at once, and a peer that spins calls sched_yield between two looks. In \
            mode 1thread, the options wait and batch have no effect. A peer that has waited for 32 ms checks whether the other peer was killed. The \
            kernel buffers nothing, so --kernel-buffer does not apply.",
        references: &["man:memfd_create(2)", "man:futex(2)", "man:mmap(2)"],
    },
    availability: shared_memory_available,
    in_flight_messages: |_| 2 * SLOTS as u64,
    execute,
    meet: Some(meet),
    ..Mechanism::BASE
};

/// Maximum number of loans from the pool at once.
const SLOTS: u32 = 4;
fn options(setup: &Setup<'_>, size: RingSize, there: MessageDirection) -> Options {
    let message = usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 4);
    let RingSize { capacity_bytes, chunk_bytes, max_in_ring_bytes: longest_in_ring_bytes } = size;
    let whole = Options {
        capacity_bytes,
        chunk_bytes,
        batch_bytes: batch_bytes(setup),
        longest_in_ring_bytes,
        waiting: waiting(setup),
        ..Options::default()
    };
    match (there, Api::from_setup(setup)) {
        // A stream sends nothing back, so one page is enough in that direction.
        (MessageDirection::Reverse, _) if !setup.workload.is_answered() => {
            Options { capacity_bytes: 1, ..whole }
        }
        (_, Api::Loan) if message > longest_in_ring_bytes => {
            Options { slots: SLOTS, slot_bytes: message, ..whole }
        }
        (_, Api::Loan) => whole,
        (_, Api::Copy)
            if setup.placement != PeerPlacement::OneCpu && setup.blocking == Blocking::Wait =>
        {
            whole
        }
        // Peers that take turns gain nothing from chunks.
        (_, Api::Copy) => Options {
            capacity_bytes: capacity_bytes.max(Options::capacity_for(message)),
            chunk_bytes: message,
            ..whole
        },
    }
}

fn ring_size(setup: &Setup<'_>, caches: Caches) -> RingSize {
    RingSize::new(setup, (Api::from_setup(setup), caches), setup.number(&CAPACITY))
}

/// Returns the batch size. Only a stream has several messages to publish at once, and with one thread the
/// receiver would wait forever for messages held back.
fn batch_bytes(setup: &Setup<'_>) -> usize {
    match (setup.workload.is_answered(), setup.blocking, setup.number(&BATCH)) {
        (false, Blocking::Wait, Some(bytes)) => usize::try_from(bytes).unwrap_or(usize::MAX),
        _ => 0,
    }
}

fn waiting(setup: &Setup<'_>) -> WaitStrategy {
    if setup.blocking == Blocking::Try {
        return WaitStrategy::NonBlocking;
    }
    let shares_cpu = setup.placement == PeerPlacement::OneCpu;
    match setup.option(&WAIT).parse() {
        Ok(Wait::Spin) if shares_cpu => WaitStrategy::Yield,
        Ok(Wait::SpinFor(window)) if shares_cpu => WaitStrategy::YieldFor(window),
        Ok(Wait::Spin) => WaitStrategy::Spin,
        Ok(Wait::SpinFor(window)) => WaitStrategy::SpinFor(window),
        Ok(Wait::Adaptive) if !shares_cpu => WaitStrategy::SpinThenFutex,
        _ => WaitStrategy::Futex,
    }
}

impl Api {
    fn from_setup(setup: &Setup<'_>) -> Self {
        if setup.option(&API) == "loan" { Self::Loan } else { Self::Copy }
    }
}

/// Channel that copies on both sides.
struct CopyRing;

/// Channel that writes and reads in place.
struct LoanRing;

impl Channel for CopyRing {
    type End = RingEnd<false>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        open(setup)
    }
}

impl Channel for LoanRing {
    type End = RingEnd<true>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        open(setup)
    }
}

fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    match Api::from_setup(&Setup::new(spec)) {
        Api::Copy => worker::execute::<CopyRing>(spec, mechanism),
        Api::Loan => worker::execute::<LoanRing>(spec, mechanism),
    }
}

fn open<const IN_PLACE: bool>(setup: &Setup<'_>) -> Result<Opened<RingEnd<IN_PLACE>>, Failure> {
    let size = ring_size(setup, Caches::measure(setup));
    let create = |way| ring(&options(setup, size, way)).map_err(|error| memory_failure(&error));
    let ((there, arrives_there), (back, arrives_back)) =
        (create(MessageDirection::Forward)?, create(MessageDirection::Reverse)?);
    Ok(Opened {
        sender: RingEnd { outgoing: there, incoming: arrives_back },
        receiver: RingEnd { outgoing: back, incoming: arrives_there },
        granted: Granted::default(),
    })
}

fn meet(
    spec: &RunSpec,
    mechanism: &Mechanism<'_>,
    program: &ProgramPart,
) -> Result<ProgramReport, Failure> {
    match Api::from_setup(&Setup::new(spec)) {
        Api::Copy => worker::meet::<CopyRing>(spec, mechanism, program),
        Api::Loan => worker::meet::<LoanRing>(spec, mechanism, program),
    }
}

impl Meet for CopyRing {
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure> {
        meet_end(setup, meeting)
    }
}

impl Meet for LoanRing {
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure> {
        meet_end(setup, meeting)
    }
}

/// Returns the end of one program. The receiver creates both rings, and passes the sender's sides.
fn meet_end<const IN_PLACE: bool>(
    setup: &Setup<'_>,
    meeting: &Meeting<'_>,
) -> Result<(RingEnd<IN_PLACE>, Granted), Failure> {
    let ways = |caches| {
        let size = ring_size(setup, caches);
        [MessageDirection::Forward, MessageDirection::Reverse].map(|way| options(setup, size, way))
    };
    let end = match meeting.role() {
        Role::Receiver => {
            let caches = Caches::measure(setup);
            let [there, back] = ways(caches);
            let created = with_remote_producer(&there)
                .and_then(|there| Ok((there, with_remote_consumer(&back)?)));
            let ((incoming, sending), (outgoing, receiving)) =
                created.map_err(|error| memory_failure(&error))?;
            ring_sides::pass(meeting, caches as u8, &[sending, receiving])?;
            RingEnd { outgoing, incoming }
        }
        _ => {
            let (mark, [sending, receiving]) = ring_sides::receive(meeting)?;
            let [there, back] = ways(Caches::from_mark(mark));
            let outgoing = sending.into_producer(&there).map_err(|error| memory_failure(&error))?;
            let incoming =
                receiving.into_consumer(&back).map_err(|error| memory_failure(&error))?;
            RingEnd { outgoing, incoming }
        }
    };
    Ok((end, Granted::default()))
}

fn memory_failure(error: &io::Error) -> Failure {
    setup_failure("mapping the ring", errno(error))
        .with_remedy("free memory, or use smaller messages")
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::NOMEM)
}

/// Maps an error of the ring to the error number that the loops expect.
fn ring_errno(error: Error) -> Errno {
    match error {
        Error::WouldBlock => Errno::AGAIN,
        Error::PeerGone => Errno::PIPE,
        Error::TooLarge => Errno::MSGSIZE,
        Error::Fragmented | Error::Corrupt => Errno::BADMSG,
    }
}

/// Converts the result of a receive: a peer that is gone ends the stream of messages.
fn received_bytes(received: Result<usize, Error>) -> Result<usize, Errno> {
    match received {
        Err(Error::PeerGone) => Ok(0),
        other => other.map_err(ring_errno),
    }
}

#[derive(Debug)]
struct RingEnd<const IN_PLACE: bool> {
    outgoing: Producer,
    incoming: Consumer,
}

impl<const IN_PLACE: bool> Endpoint for RingEnd<IN_PLACE> {
    const KEEPS_BOUNDARIES: bool = true;
    const SENDS_IN_PLACE: bool = IN_PLACE;
    const RECEIVES_IN_PLACE: bool = IN_PLACE;

    fn prepare(&mut self) -> Result<(), Errno> {
        let populated = self.outgoing.populate().and_then(|()| self.incoming.populate());
        populated.map_err(|error| errno(&error))
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.outgoing.send(bytes).map_err(ring_errno)?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        received_bytes(self.incoming.recv(bytes))
    }

    #[inline]
    fn loan(&mut self, bytes: usize) -> Result<(), Errno> {
        self.outgoing.reserve(bytes).map_err(ring_errno)
    }

    #[inline]
    fn loaned(&mut self) -> &mut [u8] {
        self.outgoing.reserved()
    }

    #[inline]
    fn send_loan(&mut self) -> Result<(), Errno> {
        self.outgoing.commit();
        Ok(())
    }

    #[inline]
    fn take(&mut self) -> Result<usize, Errno> {
        received_bytes(self.incoming.take())
    }

    #[inline]
    fn taken(&self) -> &[u8] {
        self.incoming.taken()
    }

    #[inline]
    fn release(&mut self) -> Result<(), Errno> {
        self.incoming.release();
        Ok(())
    }

    /// Copies the message: each direction has its own ring.
    #[inline]
    fn send_taken(&mut self) -> Result<(), Errno> {
        let taken = self.incoming.taken();
        self.outgoing.reserve(taken.len()).map_err(ring_errno)?;
        self.outgoing.reserved().copy_from_slice(taken);
        self.outgoing.commit();
        self.release()
    }

    fn flush(&mut self) -> Result<(), Errno> {
        self.outgoing.flush();
        Ok(())
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(self.outgoing.take_calls() + self.incoming.take_calls())
    }

    #[inline]
    fn is_ready(&mut self) -> Option<bool> {
        Some(self.incoming.is_ready())
    }

    fn close_after_fork(self) {
        self.outgoing.close_after_fork();
        self.incoming.close_after_fork();
    }
}
