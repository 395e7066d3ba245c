//! The side that writes arbitrary values anywhere. It also runs in a forked process, so it takes no lock and allocates
//! no memory.

use std::ptr::from_ref;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::header::{Header, MAX_SLOTS};
use crate::memory::Memory;
use crate::sync::{Arc, AtomicU32, AtomicU64, futex_wake};

use super::area::SharedHints;
use super::random::Random;
use super::round::Role;

/// Number of times that two lies alternate in one place, so that the honest side reads one and then the other.
const ALTERNATIONS: u32 = 200;

/// Bits of a word that hold the length, below three flags.
const LENGTH: u64 = u64::MAX >> 3;

#[derive(Debug)]
pub(super) struct Adversary {
    pub(super) memory: Arc<Memory>,
    pub(super) shared: Arc<SharedHints>,
    /// Side that is lied to.
    pub(super) role: Role,
    pub(super) time: Duration,
    pub(super) random: Random,
}

/// Writes two lies alternately.
fn alternate(word: &AtomicU64, values: [u64; 2]) {
    for _ in 0..ALTERNATIONS {
        word.store(values[0], Relaxed);
        word.store(values[1], Relaxed);
    }
}

fn alternate_short(word: &AtomicU32, values: [u32; 2]) {
    for _ in 0..ALTERNATIONS {
        word.store(values[0], Relaxed);
        word.store(values[1], Relaxed);
    }
}

impl Adversary {
    pub(super) fn corrupt(&mut self) {
        let start = Instant::now();
        while start.elapsed() < self.time && !self.shared.hints().is_done.load(Relaxed) {
            match (self.random.below(16), self.role) {
                (0, _) => self.corrupt_anywhere(),
                (1, _) => self.corrupt_header(),
                (2, _) => self.corrupt_sleep_flag(),
                (_, Role::Consumer) => self.corrupt_records(),
                (_, Role::Producer) => self.corrupt_tail_or_notes(),
            }
            self.wake();
        }
        match self.random.below(8) {
            0..=3 => self.fall_silent(),
            4 => self.leave_pieces(),
            _ => {}
        }
    }

    /// Clears the ring, so that the honest side waits, finally for a peer that is gone.
    fn fall_silent(&self) {
        self.fill(0);
        let header = self.memory.header();
        header.freed.0.iter().for_each(|note| note.store(0, Relaxed));
        let position = self.shared.hints().position.load(Relaxed);
        header.tail.0.store(position.saturating_sub(self.capacity()), Relaxed);
    }

    /// Leaves a message that never ends.
    fn leave_pieces(&mut self) {
        let chunk_bytes = self.memory.geometry.chunk_bytes as u64;
        let bytes = self.random.one_of(&[0, 0, 8, chunk_bytes]);
        self.fill(0b110 << 61 | bytes & LENGTH);
    }

    fn fill(&self, word: u64) {
        for position in (0..self.capacity()).step_by(8) {
            self.memory.word(position).store(word, Relaxed);
        }
    }

    /// Usually wakes the honest side if it sleeps.
    fn wake(&mut self) {
        let sleeps = self.sleeps();
        if sleeps.load(Relaxed) != 0 && self.random.below(8) > 0 {
            self.sleeps().store(0, Relaxed);
            futex_wake(self.sleeps());
        }
    }

    /// Word that the honest side sleeps on.
    fn sleeps(&self) -> &AtomicU32 {
        match self.role {
            Role::Producer => &self.memory.header().producer_sleeps.0,
            Role::Consumer => &self.memory.header().consumer_sleeps.0,
        }
    }

    fn capacity(&self) -> u64 {
        self.memory.geometry.capacity_bytes as u64
    }

    /// Position that the honest side is about to read, or has just read.
    fn position(&mut self) -> u64 {
        let position = self.shared.hints().position.load(Relaxed);
        position.wrapping_add(8 * self.random.one_of(&[0, 0, 0, 1, 2, 8]))
    }

    fn corrupt_anywhere(&mut self) {
        for _ in 0..ALTERNATIONS {
            let (position, word) = (self.random.below(self.capacity() / 8) * 8, self.random.bits());
            self.memory.word(position).store(word, Relaxed);
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "any bits will do")]
    fn corrupt_header(&mut self) {
        let values = [self.random.one_of(&[0, 1, 2, u32::MAX]), self.random.bits() as u32];
        let index = self.random.length(size_of::<Header>() / size_of::<AtomicU32>() - 1);
        let words = from_ref(self.memory.header()).cast::<AtomicU32>();
        // SAFETY: inside the header, each word of which may be accessed as an atomic.
        let word = unsafe { &*words.add(index) };
        // Rarely set the flag of a closed ring, since it ends a round.
        if std::ptr::eq(word, &raw const self.memory.header().closed.0) && self.random.below(4) > 0
        {
            return;
        }
        alternate_short(word, values);
    }

    fn corrupt_sleep_flag(&mut self) {
        let values = [self.random.one_of(&[0, 1, 2]), self.random.one_of(&[0, 1, u32::MAX])];
        alternate_short(self.sleeps(), values);
        futex_wake(self.sleeps());
    }

    fn corrupt_records(&mut self) {
        let values = [self.word(), self.word()];
        match self.random.below(4) {
            0 => self.fill(values[0]),
            1 => self.refer(values),
            _ => {
                let position = self.position();
                alternate(self.memory.word(position), values);
            }
        }
    }

    /// Writes a reference to the pool with a false slot or length.
    fn refer(&mut self, values: [u64; 2]) {
        let (position, slots) = (self.position(), u64::from(self.memory.geometry.slots));
        let numbers = [self.random.below(slots + 2), self.random.one_of(&[0, slots, values[1]])];
        let flags = 0b101 << 61;
        let lengths = [self.length(), self.length()].map(|bytes| flags | bytes);
        self.memory.word(position.wrapping_add(8)).store(numbers[0], Relaxed);
        alternate(self.memory.word(position), lengths);
        alternate(self.memory.word(position.wrapping_add(8)), numbers);
    }

    /// Returns a correct length, or one that is nearly correct.
    fn length(&mut self) -> u64 {
        let geometry = self.memory.geometry;
        let known = [
            0,
            8,
            geometry.chunk_bytes,
            geometry.slot_bytes,
            geometry.slot_bytes + 1,
            geometry.capacity_bytes - 72,
            geometry.capacity_bytes - 16,
            geometry.capacity_bytes,
            2048,
        ];
        let any = self.random.bits() >> self.random.below(64);
        match self.random.below(4) {
            0 => any & LENGTH,
            1 => self.random.below(64),
            _ => self.random.one_of(&known) as u64 & LENGTH,
        }
    }

    /// Returns a word that may belong to a record: flags in all combinations, mostly valid ones.
    fn word(&mut self) -> u64 {
        let flags = self.random.one_of(&[4, 4, 4, 5, 5, 6, 6, 7, 3, 2, 1, 0, 0]);
        match self.random.below(8) {
            0 => 0,
            1 => self.random.bits(),
            _ => flags << 61 | self.length(),
        }
    }

    fn corrupt_tail_or_notes(&mut self) {
        if self.random.below(3) == 0 {
            let index = self.random.length(MAX_SLOTS - 1);
            let values = [self.note(), self.note()];
            alternate_short(&self.memory.header().freed.0[index], values);
            for note in &self.memory.header().freed.0 {
                note.store(values[0], Relaxed);
            }
        } else {
            let values = [self.tail(), self.tail()];
            alternate(&self.memory.header().tail.0, values);
        }
    }

    fn note(&mut self) -> u32 {
        let slots = self.memory.geometry.slots;
        let known = [0, 1, 1, 2, slots, slots + 1, 33, u32::MAX];
        self.random.one_of(&known)
    }

    /// Returns a possible tail, or one slightly or far beyond.
    fn tail(&mut self) -> u64 {
        let (head, capacity) = (self.position(), self.capacity());
        let within = 8 * self.random.below(capacity / 8);
        let beyond = 8 * self.random.below(1 << 15);
        let known = [
            head,
            head.wrapping_sub(within),
            head.wrapping_sub(within),
            head.wrapping_sub(within),
            head.wrapping_add(8),
            head.wrapping_add(beyond),
            head.wrapping_add(capacity),
            head.wrapping_sub(capacity + 8),
            head.wrapping_sub(4),
            self.random.bits(),
            u64::MAX,
            0,
        ];
        self.random.one_of(&known)
    }
}
