//! One slot of shared memory in each direction, and the doorbells that signal when it can be used. All
//! mechanisms with doorbells share this code.
//!
//! ```text
//! sender:   empty? -> payload -> length (Release) -> rings `full`
//! receiver: takes a ring of `full` -> payload -> 0 (Release) -> rings `room` if announced
//! ```
//!
//! `full` is rung once for each message, and each ring is taken: that is the doorbell. The slot itself shows
//! whether there is room. A sender that waits for room announces this, and `room` is rung only then. A side
//! that leaves rings both, so that the other does not sleep forever. A killed side rings nothing, and the
//! worker ends the other.

mod lane;
#[cfg(target_os = "linux")]
mod meeting;
mod shared;

use std::cell::UnsafeCell;
#[cfg(target_os = "linux")]
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::Arc;

use rustix::io::Errno;

pub(super) use lane::Lane;
use lane::{SlotHeader, header_bytes};
#[cfg(target_os = "linux")]
pub(super) use meeting::{DoorbellOrigin, meet_ends};
pub(super) use shared::SlotMemory;

use ipcperf_model::{Failure, Role};

use crate::channel::{Blocking, Endpoint, Granted, Opened, Setup};
use crate::mechanism::cache_padded::CachePadded;
use crate::mechanism::setup_failure::setup_failure;
use crate::mechanism::waiting::TryTransfer;

/// A doorbell that counts: ringing adds one, taking waits for one and removes it.
pub(super) trait Doorbell: Clone + Send + 'static {
    /// Adds a ring; adds the system calls made to `calls`.
    fn ring(&self, calls: &mut u64) -> Result<(), Errno>;

    /// Takes a ring. If there is none, waits for it, or returns `EAGAIN` if calls do not block. Returns
    /// `EPIPE` if the bell has been removed.
    fn wait(&self, calls: &mut u64) -> Result<(), Errno>;

    /// Takes a ring like [`Doorbell::wait`], but returns `EAGAIN` instead of waiting for one, even if calls block.
    fn try_wait(&self, calls: &mut u64) -> Result<(), Errno>;

    /// Removes objects that would outlive the processes; most bells have none.
    fn remove(&self) {}

    /// Descriptor that a program must pass to the other one for this bell; most bells have none.
    #[cfg(target_os = "linux")]
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// Location of a bell: its number among the four, and its own memory in the slot's header.
#[derive(Clone, Debug)]
pub(super) struct DoorbellLocation {
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "System V semaphores have it"))]
    pub(super) number: u16,
    pub(super) blocking: Blocking,
    memory: Arc<SlotMemory>,
    offset: usize,
}

/// Shared memory for a bell: two cache lines, initially zero.
pub(super) type DoorbellMemory = UnsafeCell<[u64; 16]>;

impl DoorbellLocation {
    /// Returns the bell's own memory, which lives as long as the spot.
    pub(super) fn address(&self) -> NonNull<DoorbellMemory> {
        // SAFETY: `offset` is that of a bell in a header, which lies inside the mapping.
        unsafe { self.memory.start.add(self.offset) }.cast()
    }
}

/// One endpoint: a lane out and a lane in.
#[derive(Debug)]
pub(super) struct SlotEnd<B: Doorbell> {
    pub(super) outgoing: Lane<B>,
    pub(super) incoming: Lane<B>,
    closes_on_drop: bool,
}

impl<B: Doorbell> Endpoint for SlotEnd<B> {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        self.outgoing.memory.populate()
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.outgoing.put(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.incoming.get(|message| copy_into(bytes, message))
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.outgoing.calls) + std::mem::take(&mut self.incoming.calls))
    }

    fn close_after_fork(mut self) {
        self.closes_on_drop = false;
    }
}

impl<B: Doorbell> TryTransfer for SlotEnd<B> {
    fn prepare_tries(&mut self) -> Result<(), Failure> {
        // Nothing has been rung yet.
        match self.incoming.full.try_wait(&mut 0) {
            Ok(()) | Err(Errno::AGAIN) => Ok(()),
            Err(errno) => {
                let failure = setup_failure("trying to take a notification", errno);
                Err(match errno {
                    Errno::OPNOTSUPP => failure
                        .with_remedy("to spin on an eventfd, Linux 5.8 is needed; use wait=block"),
                    _ => failure,
                })
            }
        }
    }

    #[inline]
    fn try_send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.outgoing.put_as(Blocking::Try, bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn try_recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.incoming.try_get(|message| copy_into(bytes, message))
    }
}

/// Copies `message` to the start of `bytes`, and returns its length.
#[inline]
fn copy_into(bytes: &mut [u8], message: &[u8]) -> Result<usize, Errno> {
    bytes.get_mut(..message.len()).ok_or(Errno::MSGSIZE)?.copy_from_slice(message);
    Ok(message.len())
}

impl<B: Doorbell> Drop for SlotEnd<B> {
    fn drop(&mut self) {
        if self.closes_on_drop {
            self.outgoing.close();
            self.incoming.close();
            self.outgoing.full.remove();
        }
    }
}

fn slot_bytes(max_bytes: usize) -> usize {
    header_bytes() + max_bytes.next_multiple_of(rustix::param::page_size())
}

/// Returns the maximum message lengths there and back. A stream sends nothing back.
fn max_message_bytes(setup: &Setup<'_>) -> [usize; 2] {
    let there = usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 8).min(usize::MAX / 8);
    if !setup.workload.is_answered() { [there, 1] } else { [there, there] }
}

/// Returns the size of the shared memory of both slots, bytes.
pub(super) fn memory_bytes(setup: &Setup<'_>) -> usize {
    max_message_bytes(setup).into_iter().map(slot_bytes).sum()
}

/// Creates shared memory for both slots, in a memfd.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
pub(super) fn slot_memory(setup: &Setup<'_>) -> Result<SlotMemory, Failure> {
    SlotMemory::new_unnamed(memory_bytes(setup)).map_err(memory_failure)
}

/// Returns the failure of a system without memory for the slots.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
pub(super) fn memory_failure(errno: Errno) -> Failure {
    setup_failure("mapping the slots", errno).with_remedy("free memory, or use smaller messages")
}

/// Creates both endpoints over `memory`, which has [`memory_bytes`] bytes, with bells from `make`.
pub(super) fn open_ends<B: Doorbell>(
    setup: &Setup<'_>,
    memory: SlotMemory,
    mut make: impl FnMut(DoorbellLocation) -> Result<B, Failure>,
) -> Result<Opened<SlotEnd<B>>, Failure> {
    let memory = Arc::new(memory);
    let [there_bytes, back_bytes] = max_message_bytes(setup);
    let there = lanes(setup, &memory, [0, there_bytes], &mut make)?;
    let back = lanes(setup, &memory, [slot_bytes(there_bytes), back_bytes], &mut make)?;
    let ([out_there, into_there], [out_back, into_back]) = (there, back);
    Ok(Opened {
        sender: SlotEnd { outgoing: out_there, incoming: into_back, closes_on_drop: true },
        receiver: SlotEnd { outgoing: out_back, incoming: into_there, closes_on_drop: true },
        granted: Granted::default(),
    })
}

/// Returns the end of one program, which has created both over memory that it shares with the other one.
pub(super) fn own_end<B: Doorbell>(
    opened: Opened<SlotEnd<B>>,
    role: Role,
) -> (SlotEnd<B>, Granted) {
    let Opened { sender, receiver, granted } = opened;
    let (own, other) = match role {
        Role::Receiver => (receiver, sender),
        _ => (sender, receiver),
    };
    other.close_after_fork();
    (own, granted)
}

/// Creates both sides of the slot at `offset`, for messages of up to `most_bytes` bytes.
fn lanes<B: Doorbell>(
    setup: &Setup<'_>,
    memory: &Arc<SlotMemory>,
    [offset, max_bytes]: [usize; 2],
    make: &mut impl FnMut(DoorbellLocation) -> Result<B, Failure>,
) -> Result<[Lane<B>; 2], Failure> {
    let mut bell = |index: u16| {
        let bells = offset + std::mem::offset_of!(SlotHeader, doorbells);
        make(DoorbellLocation {
            number: index + if offset == 0 { 0 } else { 2 },
            blocking: setup.blocking,
            memory: Arc::clone(memory),
            offset: bells + usize::from(index) * size_of::<CachePadded<DoorbellMemory>>(),
        })
    };
    let (full, room) = (bell(0)?, bell(1)?);
    let side = || Lane {
        memory: Arc::clone(memory),
        offset,
        max_bytes,
        blocking: setup.blocking,
        full: full.clone(),
        room: room.clone(),
        calls: 0,
    };
    Ok([side(), side()])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::thread;
    use std::time::Duration;

    use super::super::futex_doorbell::FutexDoorbell;
    use ipcperf_model::workload::WorkloadKind;

    use super::*;

    fn opened(blocking: Blocking, buffer_bytes: u64) -> Opened<SlotEnd<FutexDoorbell>> {
        let options = BTreeMap::new();
        let workload = WorkloadKind::RoundTrip;
        let setup = Setup { buffer_bytes, blocking, workload, ..Setup::with_options(&options) };
        open_ends(&setup, slot_memory(&setup).unwrap(), |spot| Ok(FutexDoorbell { location: spot }))
            .unwrap()
    }

    #[test]
    fn one_message_fills_the_slot_and_an_empty_one_says_so() {
        let Opened { mut sender, mut receiver, .. } = opened(Blocking::Try, 100);
        let mut got = [0; 100];
        for round in 0..3 {
            assert_eq!(receiver.recv(&mut got), Err(Errno::AGAIN));
            assert_eq!(sender.send(&[round; 100]), Ok(100));
            assert_eq!(sender.send(&[9; 100]), Err(Errno::AGAIN));
            assert_eq!(receiver.recv(&mut got), Ok(100));
            assert_eq!(got, [round; 100]);
        }
        assert_eq!(sender.send(&[0; 101]), Err(Errno::MSGSIZE));
        assert_eq!(sender.take_calls(), Some(0));
    }

    #[test]
    fn a_side_that_leaves_ends_the_wait_of_the_other() {
        let Opened { sender, mut receiver, .. } = opened(Blocking::Wait, 8);
        let waiter = thread::spawn(move || receiver.recv(&mut [0; 8]));
        thread::sleep(Duration::from_millis(5));
        drop(sender);
        assert_eq!(waiter.join().unwrap(), Ok(0));

        let Opened { mut sender, receiver, .. } = opened(Blocking::Wait, 8);
        sender.send(&[1; 8]).unwrap();
        let waiter = thread::spawn(move || sender.send(&[2; 8]));
        thread::sleep(Duration::from_millis(5));
        drop(receiver);
        assert_eq!(waiter.join().unwrap(), Err(Errno::PIPE));
    }

    #[test]
    fn what_was_put_before_the_sender_left_is_still_received() {
        let Opened { mut sender, mut receiver, .. } = opened(Blocking::Wait, 8);
        sender.send(&[7; 8]).unwrap();
        drop(sender);
        let mut got = [0; 8];
        assert_eq!(receiver.recv(&mut got), Ok(8));
        assert_eq!(got, [7; 8]);
        assert_eq!(receiver.recv(&mut got), Ok(0));
    }

    #[test]
    fn messages_arrive_whole_and_in_order() {
        let Opened { mut sender, mut receiver, .. } = opened(Blocking::Wait, 5_000);
        let message = |number: usize| vec![u8::try_from(number % 251).unwrap(); number % 5_000 + 1];
        let waiter = thread::spawn(move || {
            for number in 0..3_000 {
                sender.send(&message(number)).unwrap();
            }
        });
        let mut got = vec![0; 5_000];
        for number in 0..3_000 {
            let bytes = receiver.recv(&mut got).unwrap();
            assert_eq!(got[..bytes], message(number));
        }
        waiter.join().unwrap();
    }
}
