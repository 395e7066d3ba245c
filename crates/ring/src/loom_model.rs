//! Memory that loom can model: every word is an atomic of loom's, and every payload a cell that detects access by one
//! side while the other may write.

use std::cell::UnsafeCell as Bytes;
use std::io;

use loom::cell::UnsafeCell;

use crate::geometry::Geometry;
use crate::header::Header;
use crate::record::WORD_BYTES;
use crate::sync::AtomicU64;

/// Size of one record, so that models stay small.
pub(crate) fn page_bytes() -> usize {
    2 * WORD_BYTES
}

/// A lifeline that is never cut: the other side never dies in a model.
#[derive(Debug)]
pub(crate) struct Lifeline;

#[allow(clippy::unnecessary_wraps, reason = "as where sockets are made")]
pub(crate) fn lifelines() -> io::Result<(Lifeline, Lifeline)> {
    Ok((Lifeline, Lifeline))
}

impl Lifeline {
    pub(crate) fn is_cut(&self) -> bool {
        false
    }
}

#[derive(Debug)]
pub(crate) struct Memory {
    header: Header,
    words: Vec<AtomicU64>,
    /// Cells that model access to the payload at each word, and to each slot.
    payloads: Vec<UnsafeCell<()>>,
    slots: Vec<UnsafeCell<()>>,
    records: Bytes<Vec<u8>>,
    pool: Bytes<Vec<u8>>,
    pub(crate) geometry: Geometry,
}

// SAFETY: all shared state is atomic, or tracked by loom, which reports races.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

impl Memory {
    #[allow(clippy::unnecessary_wraps, reason = "as where memory is mapped")]
    pub(crate) fn map(geometry: Geometry) -> io::Result<Self> {
        let words = geometry.capacity_bytes / WORD_BYTES;
        Ok(Self {
            header: Header::default(),
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            payloads: (0..words).map(|_| UnsafeCell::new(())).collect(),
            slots: (0..geometry.slots).map(|_| UnsafeCell::new(())).collect(),
            records: Bytes::new(vec![0; 2 * geometry.capacity_bytes]),
            pool: Bytes::new(vec![0; geometry.pool_bytes()]),
            geometry,
        })
    }

    #[allow(clippy::unnecessary_wraps, reason = "as where memory is mapped")]
    pub(crate) fn populate(&self) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    fn offset(&self, position: u64) -> usize {
        usize::try_from(position).unwrap() & (self.geometry.capacity_bytes - 1)
    }

    pub(crate) fn word(&self, position: u64) -> &AtomicU64 {
        &self.words[self.offset(position) / WORD_BYTES]
    }

    /// Address of a payload, the same for both sides. A payload that crosses the end continues behind it.
    fn record(&self, position: u64) -> *mut u8 {
        // SAFETY: the offset is less than the capacity, and the vector, which is never resized, is twice that long.
        unsafe { (*self.records.get()).as_mut_ptr().add(self.offset(position)) }
    }

    pub(crate) fn target(&self, position: u64, bytes: usize) -> *mut u8 {
        let first = self.offset(position) / WORD_BYTES;
        for index in first..first + bytes.div_ceil(WORD_BYTES) {
            self.payloads[index % self.payloads.len()].with_mut(|_| ());
        }
        self.record(position)
    }

    pub(crate) fn source(&self, position: u64, bytes: usize) -> *const u8 {
        let first = self.offset(position) / WORD_BYTES;
        for index in first..first + bytes.div_ceil(WORD_BYTES) {
            self.payloads[index % self.payloads.len()].with(|_| ());
        }
        self.record(position)
    }

    fn slot(&self, number: u32) -> *mut u8 {
        // SAFETY: inside the vector, which is never resized.
        unsafe { (*self.pool.get()).as_mut_ptr().add(number as usize * self.geometry.slot_bytes) }
    }

    pub(crate) fn slot_target(&self, number: u32) -> *mut u8 {
        self.slots[number as usize].with_mut(|_| ());
        self.slot(number)
    }

    pub(crate) fn slot_source(&self, number: u32) -> *const u8 {
        self.slots[number as usize].with(|_| ());
        self.slot(number)
    }
}
