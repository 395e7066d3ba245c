//! Memory that the kernel writes samples into, one for each CPU.
//!
//! It is written backwards and over what is oldest: nobody has to empty it while a run is under way, and what
//! counts in a run comes last. The price is that what was overwritten is not counted; how far back the ring
//! reaches is known from its oldest record.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys::bindings::perf_event_mmap_page;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

/// Bytes of the head of every record: its type, flags, and length.
const HEAD_BYTES: usize = 8;

/// One mapping. Dropped, it is gone.
#[derive(Debug)]
pub(super) struct Ring {
    start: *mut u8,
    data_bytes: usize,
}

/// What a ring held.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Whole records, the newest first.
    pub(super) records: Vec<Record>,
    /// Whether older ones were overwritten.
    pub(super) has_forgotten: bool,
}

/// One record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// One of `PERF_RECORD_`.
    pub(super) kind: u32,
    /// Flags of `PERF_RECORD_MISC_`.
    pub(super) misc: u16,
    /// What follows its head.
    pub(super) body: Vec<u8>,
}

impl Ring {
    /// Maps `data_bytes`, a power of two of pages, for what `event` and those that are redirected to it
    /// tell.
    ///
    /// # Errors
    /// `EPERM` where that is more than may be locked in memory.
    pub(super) fn map(event: BorrowedFd<'_>, data_bytes: usize) -> Result<Self, Errno> {
        let bytes = page_size() + data_bytes;
        // Not writable: that is what makes the kernel overwrite.
        // SAFETY: a new mapping of the kernel's choice aliases nothing.
        let start = unsafe {
            mmap(std::ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, event, 0)?
        };
        Ok(Self { start: start.cast(), data_bytes })
    }

    /// What it holds. The events that write into it are off.
    pub(super) fn content(&self) -> Content {
        // SAFETY: the first page of the mapping is such a page, and the field is an aligned word in it that
        // the kernel alone writes.
        let head = unsafe {
            let page = self.start.cast::<perf_event_mmap_page>();
            AtomicU64::from_ptr(&raw mut (*page).data_head).load(Ordering::Acquire)
        };
        // SAFETY: the data follow the first page; nobody writes them any more.
        let data =
            unsafe { std::slice::from_raw_parts(self.start.add(page_size()), self.data_bytes) };
        content(data, head)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and nothing borrowed from it outlives it.
        let unmapped = unsafe { munmap(self.start.cast(), page_size() + self.data_bytes) };
        debug_assert_eq!(unmapped, Ok(()));
    }
}

/// The records in `data`, a ring whose newest begins at `head`, a count that began at zero and went down.
fn content(data: &[u8], head: u64) -> Content {
    let size = data.len() as u64;
    let written = head.wrapping_neg();
    let from = usize::try_from(head % size).unwrap_or(0);
    let length = usize::try_from(written.min(size)).unwrap_or(data.len());
    let line = [&data[from..], &data[..from]].concat();
    let mut content = Content { records: Vec::new(), has_forgotten: written > size };
    let mut rest = &line[..length];
    while let Some((record, after)) = split(rest) {
        content.records.push(record);
        rest = after;
    }
    content
}

/// The first record of `line`, and what follows it; `None` where it is not whole.
fn split(line: &[u8]) -> Option<(Record, &[u8])> {
    let (head, _) = line.split_first_chunk::<HEAD_BYTES>()?;
    let [k0, k1, k2, k3, m0, m1, l0, l1] = *head;
    let length = usize::from(u16::from_ne_bytes([l0, l1]));
    let body = line.get(HEAD_BYTES..length)?.to_vec();
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

    fn numbers(content: &Content) -> Vec<u8> {
        content.records.iter().map(|record| record.body[0]).collect()
    }

    #[test]
    fn the_newest_is_first_and_the_oldest_is_forgotten() {
        let mut data = [0; 64];
        let head = written(&mut data, 3, 16);
        let some = content(&data, head);
        assert_eq!((numbers(&some), some.has_forgotten), (vec![3, 2, 1], false));
        assert_eq!((some.records[0].kind, some.records[0].misc), (9, 1));
        let head = written(&mut data, 6, 16);
        let full = content(&data, head);
        assert_eq!((numbers(&full), full.has_forgotten), (vec![6, 5, 4, 3], true));
        assert_eq!(content(&[0; 64], 0).records, []);
    }

    #[test]
    fn a_record_that_was_half_overwritten_is_left_out() {
        let mut data = [0; 64];
        let head = written(&mut data, 3, 24);
        assert_eq!(numbers(&content(&data, head)), [3, 2]);
    }
}
