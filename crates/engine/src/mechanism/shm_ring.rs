//! `shm-ring`: a ring in shared memory for each direction.

use std::io;
use std::time::Duration;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::workload::Kind;
use ipcperf_model::{Failure, Mode, Report, RunSpec, Unavailable};
use ipcperf_ring::{Consumer, Error, Options, Producer, Waiting, ring};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;

use super::refusal::refused;
use crate::channel::{
    Blocking, Channel, Documentation, Endpoint, Granted, Mechanism, Nearness, Opened, OptionSpec,
    OptionValues, Setup,
};
use crate::limits::cacheline::{CLOSE_BELOW_NS, round_trip_between_ns};
use crate::payload::Way;
use crate::worker;

/// Option that selects copying or in-place access.
const API: OptionSpec = OptionSpec {
    name: "api",
    about: "copy messages in and out, or write and read them where they lie",
    values: OptionValues::OneOf(&["copy", "loan"]),
    default: "copy",
};

/// Option that selects how a peer waits.
const WAIT: OptionSpec = OptionSpec {
    name: "wait",
    about: "look for 20 us (up to 1 ms where sleeps are short) then sleep, sleep at once, or give way",
    values: OptionValues::OneOf(&["spin-futex", "futex", "yield"]),
    default: "spin-futex",
};

/// Option that sets how many bytes a stream publishes at once.
const BATCH: OptionSpec = OptionSpec {
    name: "batch",
    about: "bytes of messages that a stream shows its receiver all at once; 0: each as it is sent",
    values: OptionValues::Number(0..=1 << 20),
    default: "0",
};

/// Facts about `shm-ring`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "shm-ring",
    about: "ring of messages in shared memory, one in each direction; copied, or written and read in place",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Memory,
    waits: PeerWait::Chosen { option: WAIT.name, spins: &["spin-futex", "yield"] },
    payload: PayloadFate::Chosen { option: API.name, handed_over: "loan" },
    peer_death: PeerDeath::Told,
    unrelated: Unrelated::No("its memory is inherited or passed on"),
    helper: Helper::Nobody,
    options: &[API, WAIT, BATCH],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A memfd, mapped twice back to back so that no record wraps. The length of \
            a record stands before its payload and is stored last, so that one cache line carries \
            both; no system call is made unless a side has to sleep. On CPUs of their own the \
            parties pass long messages in chunks (24 KiB of a 256 KiB ring for round trips, 64 KiB \
            of 1 MiB for streams), so that both copy at once; on one CPU messages go whole. With api=loan \
            they are composed and read where they lie: up to 16 KiB in the ring, longer ones in a pool of \
            four places, of which the one freed last is lent next; an echo is copied from one ring to the \
            other. CPUs that share no cache, which is measured (a cache line takes 120 ns and more there and \
            back), stream copies through 8 MiB, and loans of up to 4 MiB through 16 MiB; loans of up to 1 MiB make round \
            trips in 4 MiB: what has left its writer's cache comes faster than what is fetched from it. With batch, a stream's receiver is shown messages by so many bytes at a time.",
        message_boundaries: "Kept.",
        minimum_kernel: "Linux 3.17 (memfd_create); 5.14 populates the mapping faster.",
        defaults_that_matter: "Looking needs a CPU to look with: on one CPU spin-futex sleeps at once. \
            A killed party is noticed by whoever has waited for 32 ms. The kernel holds nothing, so --kernel-buffer does not apply.",
        references: &["man:memfd_create(2)", "man:futex(2)", "man:mmap(2)"],
    },
    availability: available,
    holds: |_| 2 * SLOTS as u64,
    execute,
    ..Mechanism::BASE
};

/// Checks that a memfd can be created.
pub(super) fn available() -> Result<(), Unavailable> {
    memfd_create("ipcperf-probe", MemfdFlags::CLOEXEC).map(drop).map_err(|errno| Unavailable {
        reason: format!("memfd_create: {errno}"),
        remedy: "needs Linux 3.17 and a seccomp filter that lets memfd_create through".to_owned(),
    })
}

/// Maximum number of loans from the pool at once.
const SLOTS: u32 = 4;
const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// Duration of the measurement of the distance between the two CPUs.
const PROBE: Duration = Duration::from_millis(1);

/// Amount of memory that a ring cycles through, and the size of its chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    capacity_bytes: usize,
    chunk_bytes: usize,
    /// Maximum length of a loan that lies in the ring. Longer loans lie in the pool, which lends the slot
    /// freed last again; a ring cycles through all of its memory.
    longest_in_ring_bytes: usize,
}

/// Small enough to stay in a cache together with the buffers of a round trip.
const ROUND_TRIP: Size =
    Size { capacity_bytes: 256 * KIB, chunk_bytes: 24 * KIB, longest_in_ring_bytes: 16 * KIB };
const STREAM: Size =
    Size { capacity_bytes: MIB, chunk_bytes: 64 * KIB, longest_in_ring_bytes: 16 * KIB };
/// Sizes for distant CPUs, larger than a CPU's private cache: written data is read faster from the last-level
/// cache than from the writer's private cache, and memory that was just read should not be written next.
const FAR_LOANED_TRIP: Size =
    Size { capacity_bytes: 4 * MIB, longest_in_ring_bytes: MIB, ..ROUND_TRIP };
const FAR_STREAM: Size = Size { capacity_bytes: 8 * MIB, ..STREAM };
const FAR_LOANED_STREAM: Size =
    Size { capacity_bytes: 16 * MIB, chunk_bytes: 64 * KIB, longest_in_ring_bytes: 4 * MIB };

impl Size {
    fn of(setup: &Setup<'_>) -> Self {
        match (setup.workload, Api::of(setup)) {
            (Kind::RoundTrip | Kind::RequestReply, Api::Loan) if are_far(setup) => FAR_LOANED_TRIP,
            (Kind::RoundTrip | Kind::RequestReply, _) => ROUND_TRIP,
            (Kind::Stream, Api::Copy) if are_far(setup) => FAR_STREAM,
            (Kind::Stream, Api::Loan) if are_far(setup) => FAR_LOANED_STREAM,
            (Kind::Stream, _) => STREAM,
        }
    }
}

/// Returns whether the peers' CPUs share no cache but the last level. Decides by the measured cache-line
/// round trip, since a virtual machine may misreport its CPUs. CPUs too busy to be measured count as close.
fn are_far(setup: &Setup<'_>) -> bool {
    let (Nearness::Apart, Some(cpus)) = (setup.nearness, setup.cpus) else { return false };
    round_trip_between_ns(cpus, PROBE).is_ok_and(|trip_ns| trip_ns >= CLOSE_BELOW_NS)
}

fn options(setup: &Setup<'_>, size: Size, there: Way) -> Options {
    let message = usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 4);
    let Size { capacity_bytes, chunk_bytes, longest_in_ring_bytes } = size;
    let whole = Options {
        capacity_bytes,
        chunk_bytes,
        batch_bytes: batch_bytes(setup),
        longest_in_ring_bytes,
        waiting: waiting(setup),
        ..Options::default()
    };
    match (there, Api::of(setup)) {
        // A stream sends nothing back, so one page is enough in that direction.
        (Way::Back, _) if setup.workload == Kind::Stream => Options { capacity_bytes: 1, ..whole },
        (_, Api::Loan) if message > longest_in_ring_bytes => {
            Options { slots: SLOTS, slot_bytes: message, ..whole }
        }
        (_, Api::Loan) => whole,
        (_, Api::Copy)
            if setup.nearness != Nearness::OneCpu && setup.blocking == Blocking::Wait =>
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

/// Returns the batch size. Only a stream has several messages to publish at once, and with one thread the
/// receiver would wait forever for messages held back.
fn batch_bytes(setup: &Setup<'_>) -> usize {
    match (setup.workload, setup.blocking, setup.number(&BATCH)) {
        (Kind::Stream, Blocking::Wait, Some(bytes)) => usize::try_from(bytes).unwrap_or(usize::MAX),
        _ => 0,
    }
}

fn waiting(setup: &Setup<'_>) -> Waiting {
    if setup.blocking == Blocking::Try {
        return Waiting::Never;
    }
    match setup.option(&WAIT) {
        "yield" => Waiting::Yield,
        "spin-futex" if setup.nearness != Nearness::OneCpu => Waiting::SpinThenFutex,
        _ => Waiting::Futex,
    }
}

/// Access to messages in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Api {
    Copy,
    Loan,
}

impl Api {
    fn of(setup: &Setup<'_>) -> Self {
        if setup.option(&API) == "loan" { Self::Loan } else { Self::Copy }
    }
}

/// Channel that copies on both sides.
struct Copying;

/// Channel that writes and reads in place.
struct Loaning;

impl Channel for Copying {
    type End = RingEnd<false>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        open(setup)
    }
}

impl Channel for Loaning {
    type End = RingEnd<true>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        open(setup)
    }
}

fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> Report {
    match Api::of(&Setup::new(spec)) {
        Api::Copy => worker::execute::<Copying>(spec, mechanism),
        Api::Loan => worker::execute::<Loaning>(spec, mechanism),
    }
}

fn open<const IN_PLACE: bool>(setup: &Setup<'_>) -> Result<Opened<RingEnd<IN_PLACE>>, Failure> {
    let size = Size::of(setup);
    let made = |way| ring(&options(setup, size, way)).map_err(|error| no_memory(&error));
    let ((there, arrives_there), (back, arrives_back)) = (made(Way::There)?, made(Way::Back)?);
    Ok(Opened {
        sender: RingEnd { outgoing: there, incoming: arrives_back },
        receiver: RingEnd { outgoing: back, incoming: arrives_there },
        granted: Granted::default(),
    })
}

fn no_memory(error: &io::Error) -> Failure {
    refused("mapping the ring", errno(error)).with_remedy("free memory, or use smaller messages")
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::NOMEM)
}

/// Maps an error of the ring to the error number that the loops expect.
fn told(error: Error) -> Errno {
    match error {
        Error::WouldBlock => Errno::AGAIN,
        Error::PeerGone => Errno::PIPE,
        Error::TooLarge => Errno::MSGSIZE,
        Error::InPieces | Error::Corrupt => Errno::BADMSG,
    }
}

/// Converts the result of a receive: a peer that is gone ends the stream of messages.
fn arrived(received: Result<usize, Error>) -> Result<usize, Errno> {
    match received {
        Err(Error::PeerGone) => Ok(0),
        other => other.map_err(told),
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
        self.outgoing.send(bytes).map_err(told)?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        arrived(self.incoming.recv(bytes))
    }

    #[inline]
    fn loan(&mut self, bytes: usize) -> Result<(), Errno> {
        self.outgoing.reserve(bytes).map_err(told)
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
        arrived(self.incoming.take())
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
    fn send_taken(&mut self) -> Result<(), Errno> {
        let taken = self.incoming.taken();
        self.outgoing.reserve(taken.len()).map_err(told)?;
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

    fn disown(self) {
        self.outgoing.disown();
        self.incoming.disown();
    }
}
