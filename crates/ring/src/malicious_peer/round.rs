//! One round: one ring, one honest side, one adversary.

use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use crate::geometry::Geometry;
use crate::memory::{Memory, page_bytes};
use crate::sync::Arc;
use crate::{Consumer, Error, Options, Producer, WaitStrategy, sides};

use super::adversary::Adversary;
use super::area::{Buffer, SharedHints};
use super::honest::{Honest, Side};
use super::random::Random;

/// Role of the honest side; the other side lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Producer,
    Consumer,
}

/// Number of results of each kind that the honest side got.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) messages: u64,
    pub(super) corrupt: u64,
    would_block: u64,
    peer_gone: u64,
    too_large: u64,
    in_pieces: u64,
}

impl Counts {
    pub(super) fn count<T>(&mut self, result: &Result<T, Error>) {
        *match result {
            Ok(_) => &mut self.messages,
            Err(Error::Corrupt) => &mut self.corrupt,
            Err(Error::WouldBlock) => &mut self.would_block,
            Err(Error::PeerGone) => &mut self.peer_gone,
            Err(Error::TooLarge) => &mut self.too_large,
            Err(Error::Fragmented) => &mut self.in_pieces,
        } += 1;
    }
}

/// Longest message or buffer, bytes: many times the capacity of a ring, so that one that wrongly appears to fit would
/// reach beyond the mapping.
const LONGEST: usize = 1 << 18;

fn options(waiting: WaitStrategy, random: &mut Random) -> Options {
    Options {
        capacity_bytes: random.one_of(&[4096, 16_384]),
        chunk_bytes: random.one_of(&[1, 64, 1000, 4096, usize::MAX]),
        batch_bytes: random.one_of(&[0, 0, 64, 4096]),
        longest_in_ring_bytes: random.one_of(&[0, 1000, usize::MAX]),
        slots: random.one_of(&[0, 1, 4, 32]),
        slot_bytes: random.one_of(&[4096, 12_288]),
        waiting,
    }
}

/// Lies for some milliseconds, and counts the honest side's results.
pub(super) fn round(role: Role, waiting: WaitStrategy, seed: u64, counts: &mut Counts) {
    let mut random = Random::new(seed);
    let options = options(waiting, &mut random);
    let memory =
        Arc::new(Memory::map(Geometry::from_options(&options, page_bytes()).unwrap()).unwrap());
    let (producer, consumer) = sides(Arc::clone(&memory), waiting).unwrap();
    let shared = Arc::new(SharedHints::new());
    let adversary = Adversary {
        memory,
        shared: Arc::clone(&shared),
        role,
        time: Duration::from_micros(500 + random.below(6000)),
        random: Random::new(random.bits()),
    };
    let (side, peer) = match role {
        Role::Producer => (Side::Producer(producer), Peer::Consumer(consumer)),
        Role::Consumer => (Side::Consumer(consumer), Peer::Producer(producer)),
    };
    let is_process = random.below(2) == 0;
    let honest = Honest { side, shared, random, buffer: Buffer::new(LONGEST), longest: LONGEST };
    if is_process {
        run_with_process(honest, adversary, peer, counts);
    } else {
        run_with_thread(honest, adversary, peer, counts);
    }
}

/// The adversary's side of the ring, which it holds but does not use.
enum Peer {
    Producer(Producer),
    Consumer(Consumer),
}

impl Peer {
    /// Drops the side without notifying the other.
    fn close_after_fork(self) {
        match self {
            Self::Producer(producer) => producer.close_after_fork(),
            Self::Consumer(consumer) => consumer.close_after_fork(),
        }
    }
}

/// Runs the adversary on a thread. At the end it either announces that it is gone, or leaves silently like a killed
/// process.
fn run_with_thread(mut honest: Honest, mut adversary: Adversary, peer: Peer, counts: &mut Counts) {
    let goes_silently = honest.random.below(2) == 0;
    let thread = thread::spawn(move || {
        adversary.corrupt();
        if goes_silently { peer.close_after_fork() } else { drop(peer) }
    });
    honest.work(counts);
    thread.join().unwrap();
}

/// Makes the kernel kill this process when its parent ends, for whatever reason.
pub(super) fn end_with_parent() {
    // SAFETY: sets a property of this process; no memory is involved.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

fn run_with_process(mut honest: Honest, mut adversary: Adversary, peer: Peer, counts: &mut Counts) {
    // SAFETY: the child calls only the adversary, which takes no lock and allocates no memory, and the kernel; it ends
    // by _exit.
    let process = unsafe { libc::fork() };
    assert!(process >= 0, "fork");
    if process == 0 {
        end_with_parent();
        adversary.corrupt();
        if adversary.random.below(2) == 0 {
            adversary.memory.header().close();
        }
        // SAFETY: ends this process, which has nothing to drop.
        unsafe { libc::_exit(0) };
    }
    // This process's copy of the other side.
    peer.close_after_fork();
    honest.work(counts);
    let mut status = 0;
    // SAFETY: waits for a child of this process.
    assert_eq!(unsafe { libc::waitpid(process, &raw mut status, 0) }, process);
    assert_eq!(status, 0, "the adversary itself");
    assert!(honest.shared.hints().is_done.load(Relaxed));
}
