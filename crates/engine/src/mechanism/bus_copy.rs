//! `bus-copy`: the sender copies each message into the receiver's pool and announces it through a socket.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::Errno;

use super::mapping::{Access, Mapping};
use super::memfd;
use super::pool_socket::{self, Line, METADATA, News, PLACES, Places, lines, place_bytes};
use super::refusal::refused;
use super::shm_ring::available;
use crate::channel::{Channel, Documentation, Endpoint, Granted, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `bus-copy`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "bus-copy",
    about: "as kdbus copied: the sender copies into the receiver's pool; a socket tells of it",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::RungMemory,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::Told,
    unrelated: Unrelated::No("descriptors are inherited or passed on"),
    helper: Helper::Nobody,
    options: &[METADATA],
    modes: &[Mode::TwoThreads, Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "What kdbus did with messages that were copied, without its module: each party \
            has a pool, a memfd that it maps for reading and its peer for writing. To send is to copy \
            the message into a free place of the peer's pool and to tell of it in a notice of 40 \
            bytes, sent through a Unix domain sequenced-packet socket. The receiver reads the message \
            where it lies and gives the place back when it is done: the notice of its answer says so, \
            or, in a stream, a notice of its own for every four. A pool has eight places, of which \
            the one freed last is used next. A copy and two calls for each message; in kdbus the \
            kernel copied, and checked who may talk to whom.",
        message_boundaries: "Kept: one notice, one message.",
        minimum_kernel: "Linux 3.17 (memfd_create).",
        defaults_that_matter: "The receiver has the message in memory of its own, but copies nothing \
            out of the pool: a program that keeps it longer has to. The sender is trusted not to \
            change what it has sent, which the kernel guaranteed in kdbus. metadata=timestamp costs \
            the sender a reading of the clock, metadata=credentials has the kernel attach PID, UID and \
            GID (SO_PASSCRED). --kernel-buffer does not apply.",
        references: &[
            "man:memfd_create(2)",
            "man:unix(7)",
            "the documentation of kdbus: kdbus.pool(7), kdbus.message(7)",
        ],
    },
    availability: available,
    holds: pool_socket::held,
    execute: worker::execute::<BusCopy>,
    ..Mechanism::BASE
};

struct BusCopy;

impl Channel for BusCopy {
    type End = CopyEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<CopyEnd>, Failure> {
        let place_bytes = place_bytes(setup);
        let [senders, receivers] = lines(setup)?;
        let no_pool = |errno| {
            refused("making a pool", errno).with_remedy("free memory, or use smaller messages")
        };
        let [there_write, there_read] = pool(place_bytes).map_err(no_pool)?;
        // A stream sends nothing back, so one byte per slot is enough.
        let back_bytes = if setup.workload.is_answered() { place_bytes } else { 1 };
        let [back_write, back_read] = pool(back_bytes).map_err(no_pool)?;
        Ok(Opened {
            sender: CopyEnd::new(senders, there_write, back_read, place_bytes),
            receiver: CopyEnd::new(receivers, back_write, there_read, place_bytes),
            granted: Granted::default(),
        })
    }
}

/// Returns two mappings of a new pool: one for writing, one for reading.
fn pool(place_bytes: usize) -> Result<[Mapping; 2], Errno> {
    let bytes = place_bytes.checked_mul(PLACES).ok_or(Errno::NOMEM)?;
    let file = memfd::of_fixed_size(bytes)?;
    Ok([Mapping::of(&file, bytes, Access::Write)?, Mapping::of(&file, bytes, Access::ReadLater)?])
}

#[derive(Debug)]
struct CopyEnd {
    line: Line,
    /// Mapping of the peer's pool.
    theirs: Mapping,
    /// Free slots of the peer's pool.
    places: Places,
    own: Mapping,
    place_bytes: usize,
    /// Offset and length of the message taken last.
    taken: (usize, usize),
}

impl CopyEnd {
    fn new(line: Line, theirs: Mapping, own: Mapping, place_bytes: usize) -> Self {
        let (places, taken) = (Places::all_free(), (0, 0));
        Self { line, theirs, places, own, place_bytes, taken }
    }

    /// Returns the message taken last, or an empty slice once its slot has been given back.
    #[inline]
    fn message(&self) -> &[u8] {
        let (at, bytes) = self.taken;
        // SAFETY: only the peer writes to our pool, and the protocol keeps it from reusing a slot before we
        // report it free; from then on `bytes` is 0.
        unsafe { self.own.borrow(at, bytes) }
    }
}

impl Endpoint for CopyEnd {
    const KEEPS_BOUNDARIES: bool = true;
    const RECEIVES_IN_PLACE: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        self.theirs.populate()?;
        self.own.populate_to_read()
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        let place = self.places.find(&mut self.line)?;
        self.theirs.copy_in(place * self.place_bytes, bytes);
        self.line.tell(News::Message(place), bytes.len(), None)?;
        self.places.sent(place);
        Ok(bytes.len())
    }

    #[inline]
    fn take(&mut self) -> Result<usize, Errno> {
        let Some(heard) = self.places.next_message(&mut self.line)? else { return Ok(0) };
        let News::Message(place) = heard.notice.news else { return Err(Errno::BADMSG) };
        let bytes = heard.notice.bytes;
        if bytes > self.place_bytes {
            return Err(Errno::BADMSG);
        }
        self.taken = (place * self.place_bytes, bytes);
        Ok(bytes)
    }

    #[inline]
    fn taken(&self) -> &[u8] {
        self.message()
    }

    #[inline]
    fn release(&mut self) -> Result<(), Errno> {
        self.taken = (0, 0);
        self.line.give_back()
    }

    fn send_taken(&mut self) -> Result<(), Errno> {
        let place = self.places.find(&mut self.line)?;
        let bytes = self.message();
        let length = bytes.len();
        self.theirs.copy_in(place * self.place_bytes, bytes);
        self.taken = (0, 0);
        self.line.give_back()?;
        self.line.tell(News::Message(place), length, None)?;
        self.places.sent(place);
        Ok(())
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.line.calls))
    }
}
