//! Implementation of `bus-copy`.

use ipcperf_model::Failure;
use rustix::io::Errno;

use crate::channel::{Channel, Endpoint, Granted, Mechanism, Opened, Setup};
use crate::mechanism::mapping::{Access, Mapping};
use crate::mechanism::memfd;
use crate::mechanism::pool_socket::{
    self, FreeSlots, NoticeKind, NoticeSocket, SLOTS, notice_sockets, slot_bytes,
};
use crate::mechanism::setup_failure::setup_failure;
use crate::platform::memory::shared_memory_available;
use crate::worker;

/// The part of `bus-copy` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: shared_memory_available,
    in_flight_messages: pool_socket::in_flight_messages,
    execute: worker::execute::<BusCopy>,
    ..Mechanism::BASE
};

struct BusCopy;

impl Channel for BusCopy {
    type End = CopyEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<CopyEnd>, Failure> {
        let place_bytes = slot_bytes(setup);
        let [senders, receivers] = notice_sockets(setup)?;
        let no_pool = |errno| {
            setup_failure("creating a pool", errno)
                .with_remedy("free memory, or use smaller messages")
        };
        let [there_write, there_read] = new_pool(place_bytes).map_err(no_pool)?;
        // A stream sends nothing back, so one byte per slot is enough.
        let back_bytes = if setup.workload.is_answered() { place_bytes } else { 1 };
        let [back_write, back_read] = new_pool(back_bytes).map_err(no_pool)?;
        Ok(Opened {
            sender: CopyEnd::new(senders, there_write, back_read, place_bytes),
            receiver: CopyEnd::new(receivers, back_write, there_read, place_bytes),
            granted: Granted::default(),
        })
    }
}

/// Returns two mappings of a new pool: one for writing, one for reading.
fn new_pool(place_bytes: usize) -> Result<[Mapping; 2], Errno> {
    let bytes = place_bytes.checked_mul(SLOTS).ok_or(Errno::NOMEM)?;
    let file = memfd::create_fixed_size(bytes)?;
    Ok([Mapping::new(&file, bytes, Access::Write)?, Mapping::new(&file, bytes, Access::ReadLazy)?])
}

#[derive(Debug)]
struct CopyEnd {
    socket: NoticeSocket,
    /// Mapping of the peer's pool.
    peer_pool: Mapping,
    /// Free slots of the peer's pool.
    free_slots: FreeSlots,
    own_pool: Mapping,
    slot_bytes: usize,
    /// Offset and length of the message taken last.
    taken: (usize, usize),
}

impl CopyEnd {
    fn new(line: NoticeSocket, theirs: Mapping, own: Mapping, place_bytes: usize) -> Self {
        let (places, taken) = (FreeSlots::new(), (0, 0));
        Self {
            socket: line,
            peer_pool: theirs,
            free_slots: places,
            own_pool: own,
            slot_bytes: place_bytes,
            taken,
        }
    }

    /// Returns the message taken last, or an empty slice once its slot has been given back.
    #[inline]
    fn message(&self) -> &[u8] {
        let (at, bytes) = self.taken;
        // SAFETY: only the peer writes to our pool, and the protocol keeps it from reusing a slot before we
        // report it free; from then on `bytes` is 0.
        unsafe { self.own_pool.borrow(at, bytes) }
    }
}

impl Endpoint for CopyEnd {
    const KEEPS_BOUNDARIES: bool = true;
    const RECEIVES_IN_PLACE: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        self.peer_pool.populate()?;
        self.own_pool.populate_read()
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        let place = self.free_slots.acquire(&mut self.socket)?;
        self.peer_pool.copy_in(place * self.slot_bytes, bytes);
        self.socket.send(NoticeKind::Message(place), bytes.len(), None)?;
        self.free_slots.mark_in_flight(place);
        Ok(bytes.len())
    }

    #[inline]
    fn take(&mut self) -> Result<usize, Errno> {
        let Some(received) = self.free_slots.next_message(&mut self.socket)? else { return Ok(0) };
        let NoticeKind::Message(place) = received.notice.kind else { return Err(Errno::BADMSG) };
        let bytes = received.notice.bytes;
        if bytes > self.slot_bytes {
            return Err(Errno::BADMSG);
        }
        self.taken = (place * self.slot_bytes, bytes);
        Ok(bytes)
    }

    #[inline]
    fn taken(&self) -> &[u8] {
        self.message()
    }

    #[inline]
    fn release(&mut self) -> Result<(), Errno> {
        self.taken = (0, 0);
        self.socket.return_slot()
    }

    #[inline]
    fn send_taken(&mut self) -> Result<(), Errno> {
        let place = self.free_slots.acquire(&mut self.socket)?;
        let bytes = self.message();
        let length = bytes.len();
        self.peer_pool.copy_in(place * self.slot_bytes, bytes);
        self.taken = (0, 0);
        self.socket.return_slot()?;
        self.socket.send(NoticeKind::Message(place), length, None)?;
        self.free_slots.mark_in_flight(place);
        Ok(())
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.socket.calls))
    }
}
