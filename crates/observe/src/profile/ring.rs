//! Ring buffers that the kernel writes samples into, one for each CPU.
//!
//! The kernel writes backwards and overwrites the oldest records. So nothing has to read the ring during the run, and
//! the measured phase, which comes last, is kept. The cost is that overwritten samples are lost; the oldest record in
//! the ring shows how far back it reaches.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys::bindings::perf_event_mmap_page;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

/// Size of the header of every record (type, flags and length), bytes.
const HEADER_BYTES: usize = 8;

/// A mapped ring. Dropping it unmaps the memory.
#[derive(Debug)]
pub(super) struct Ring {
    start: *mut u8,
    data_bytes: usize,
}

/// Contents of a ring.
#[derive(Debug, Default)]
pub(super) struct RingContent {
    /// Complete records, the newest first.
    pub(super) records: Vec<Record>,
    /// Whether older records were overwritten.
    pub(super) has_overwritten: bool,
}

/// One record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Record type: one of `PERF_RECORD_`.
    pub(super) kind: u32,
    /// Flags of `PERF_RECORD_MISC_`.
    pub(super) misc: u16,
    /// Everything after the header.
    pub(super) body: Vec<u8>,
}

impl Ring {
    /// Maps a ring of `data_bytes`, a power of two of pages, for `event` and the events redirected to it.
    ///
    /// # Errors
    /// `EPERM` if the size exceeds the limit of locked memory.
    pub(super) fn map(event: BorrowedFd<'_>, data_bytes: usize) -> Result<Self, Errno> {
        let bytes = page_size() + data_bytes;
        // Mapped read-only: that makes the kernel overwrite old records.
        // SAFETY: the kernel chooses the address of the new mapping, so it aliases nothing.
        let start = unsafe {
            mmap(std::ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, event, 0)?
        };
        Ok(Self { start: start.cast(), data_bytes })
    }

    /// Returns the contents. The events that write into the ring must be disabled.
    pub(super) fn content(&self) -> RingContent {
        // SAFETY: the first page of the mapping is a `perf_event_mmap_page`, and the field is an aligned word in it
        // that only the kernel writes.
        let head = unsafe {
            let page = self.start.cast::<perf_event_mmap_page>();
            AtomicU64::from_ptr(&raw mut (*page).data_head).load(Ordering::Acquire)
        };
        // SAFETY: the data follow the first page, and nothing writes to them any more.
        let data =
            unsafe { std::slice::from_raw_parts(self.start.add(page_size()), self.data_bytes) };
        content(data, head)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, and nothing borrowed from it outlives it.
        let unmapped = unsafe { munmap(self.start.cast(), page_size() + self.data_bytes) };
        debug_assert_eq!(unmapped, Ok(()));
    }
}

/// Parses the records in `data`, a ring whose newest record begins at `head`, a position that starts at 0 and
/// decreases.
fn content(data: &[u8], head: u64) -> RingContent {
    let size = data.len() as u64;
    let written = head.wrapping_neg();
    let from = usize::try_from(head % size).unwrap_or(0);
    let length = usize::try_from(written.min(size)).unwrap_or(data.len());
    let line = [&data[from..], &data[..from]].concat();
    let mut content = RingContent { records: Vec::new(), has_overwritten: written > size };
    let mut rest = &line[..length];
    while let Some((record, after)) = split_record(rest) {
        content.records.push(record);
        rest = after;
    }
    content
}

/// Splits the first record from `line`; `None` if it is incomplete.
fn split_record(line: &[u8]) -> Option<(Record, &[u8])> {
    let (head, _) = line.split_first_chunk::<HEADER_BYTES>()?;
    let [k0, k1, k2, k3, m0, m1, l0, l1] = *head;
    let length = usize::from(u16::from_ne_bytes([l0, l1]));
    let body = line.get(HEADER_BYTES..length)?.to_vec();
    let (kind, misc) = (u32::from_ne_bytes([k0, k1, k2, k3]), u16::from_ne_bytes([m0, m1]));
    Some((Record { kind, misc, body }, &line[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes records of `bytes` bytes, numbered from 1, as the kernel does.
    fn written(data: &mut [u8], records: u8, bytes: u8) -> u64 {
        let mut head = 0_u64;
        for number in 1..=records {
            head = head.wrapping_sub(bytes.into());
            let at = usize::try_from(head % data.len() as u64).unwrap();
            let mut record = vec![number; bytes.into()];
            record[..8].copy_from_slice(&[9, 0, 0, 0, 1, 0, bytes, 0]);
            for (offset, byte) in record.into_iter().enumerate() {
                let at = (at + offset) % data.len();
                data[at] = byte;
            }
        }
        head
    }

    fn numbers(content: &RingContent) -> Vec<u8> {
        content.records.iter().map(|record| record.body[0]).collect()
    }

    #[test]
    fn the_newest_is_first_and_the_oldest_is_forgotten() {
        let mut data = [0; 64];
        let head = written(&mut data, 3, 16);
        let some = content(&data, head);
        assert_eq!((numbers(&some), some.has_overwritten), (vec![3, 2, 1], false));
        assert_eq!((some.records[0].kind, some.records[0].misc), (9, 1));
        let head = written(&mut data, 6, 16);
        let full = content(&data, head);
        assert_eq!((numbers(&full), full.has_overwritten), (vec![6, 5, 4, 3], true));
        assert_eq!(content(&[0; 64], 0).records, []);
    }

    #[test]
    fn a_record_that_was_half_overwritten_is_left_out() {
        let mut data = [0; 64];
        let head = written(&mut data, 3, 24);
        assert_eq!(numbers(&content(&data, head)), [3, 2]);
    }
}
