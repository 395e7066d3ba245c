//! The memory of a ring: a header and the records, the latter mapped twice back to back.

use std::os::fd::OwnedFd;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use rustix::thread::futex;

/// Two cache lines of its own, since CPUs fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub(super) struct Line<T>(pub(super) T);

/// What both sides share beside the records. All zero is its initial state.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Header {
    /// How far the consumer has come, bytes since the beginning; published now and then.
    pub(super) tail: Line<AtomicU64>,
    /// 1 while the consumer sleeps or is about to.
    pub(super) consumer_sleeps: Line<AtomicU32>,
    /// 1 while the producer sleeps or is about to.
    pub(super) producer_sleeps: Line<AtomicU32>,
    /// 1 once either side is gone.
    pub(super) closed: Line<AtomicU32>,
}

/// The mapping: one page or more of header, then the records twice.
#[derive(Debug)]
pub struct Memory {
    start: NonNull<u8>,
    header_bytes: usize,
    capacity_bytes: usize,
}

// SAFETY: the memory is shared by design; it is reached through atomics and through the protocol
// of producer and consumer, each of which is the only one of its kind.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

impl Memory {
    /// Maps a new ring of the power of two not below `capacity_bytes` and one page.
    pub(super) fn map(capacity_bytes: usize) -> Result<Self, Errno> {
        let page = rustix::param::page_size();
        let capacity_bytes =
            capacity_bytes.max(page).checked_next_power_of_two().ok_or(Errno::NOMEM)?;
        let header_bytes = size_of::<Header>().next_multiple_of(page);
        let file = memfd_create("ipcperf-ring", MemfdFlags::CLOEXEC)?;
        ftruncate(&file, (header_bytes + capacity_bytes) as u64)?;
        let reserved = header_bytes + 2 * capacity_bytes;
        // SAFETY: reserving addresses of the kernel's choice aliases nothing.
        let start =
            unsafe { mmap_anonymous(null_mut(), reserved, ProtFlags::empty(), MapFlags::PRIVATE) }?;
        let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
        let memory = Self { start, header_bytes, capacity_bytes };
        memory.place(&file, 0, 0, header_bytes + capacity_bytes)?;
        memory.place(&file, header_bytes + capacity_bytes, header_bytes, capacity_bytes)?;
        Ok(memory)
    }

    /// Maps `bytes` of `file` from `from` on at offset `at` of the reserved addresses.
    fn place(&self, file: &OwnedFd, at: usize, from: usize, bytes: usize) -> Result<(), Errno> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let kind = MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: the range lies inside the addresses reserved by `map` and still unused, so
        // MAP_FIXED replaces nothing but that reservation.
        unsafe {
            let address = self.start.as_ptr().add(at).cast();
            mmap(address, bytes, access, kind, file, from as u64)
        }?;
        Ok(())
    }

    /// Makes every page present in the calling process, so that the timed loop takes no faults.
    pub(super) fn populate(&self) -> Result<(), Errno> {
        let bytes = self.header_bytes + 2 * self.capacity_bytes;
        // SAFETY: the range is this mapping; populating does not change its contents.
        let done =
            unsafe { madvise(self.start.as_ptr().cast(), bytes, Advice::LinuxPopulateWrite) };
        match done {
            // Before Linux 5.14 reading each page has to do.
            Err(Errno::INVAL) => {
                self.read_each_page(bytes);
                Ok(())
            }
            other => other,
        }
    }

    fn read_each_page(&self, bytes: usize) {
        for at in (0..bytes).step_by(rustix::param::page_size()) {
            // SAFETY: inside the mapping; the byte's value is not used.
            unsafe { self.start.as_ptr().add(at).read_volatile() };
        }
    }

    /// Bytes of records the ring holds.
    #[must_use]
    pub const fn capacity_bytes(&self) -> usize {
        self.capacity_bytes
    }

    pub(super) fn header(&self) -> &Header {
        // SAFETY: the mapping begins with a page-aligned header that is only reached through
        // atomics; a new memfd is all zero, which is a valid header; it lives as long as `self`.
        unsafe { self.start.cast().as_ref() }
    }

    /// The address of `position` (bytes since the beginning) in the first copy. At least the whole
    /// capacity is addressable from there on.
    #[inline]
    pub(super) fn address(&self, position: u64) -> *mut u8 {
        #[allow(clippy::cast_possible_truncation, reason = "masked to less than the capacity")]
        let offset = position as usize & (self.capacity_bytes - 1);
        // SAFETY: offset < capacity, so the address lies in the first copy of the records.
        unsafe { self.start.as_ptr().add(self.header_bytes + offset) }
    }

    /// The word at `position`, which is a multiple of 8.
    #[inline]
    pub(super) fn word(&self, position: u64) -> &AtomicU64 {
        debug_assert_eq!(position % 8, 0);
        // SAFETY: 8-aligned (page-aligned start, position a multiple of 8) and inside the mapping;
        // records' words are only ever reached as atomics while both sides know of them.
        unsafe { AtomicU64::from_ptr(self.address(position).cast()) }
    }

    /// Says that one side is gone and wakes the other.
    pub(super) fn close(&self) {
        let header = self.header();
        header.closed.0.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        for sleeps in [&header.consumer_sleeps.0, &header.producer_sleeps.0] {
            sleeps.store(0, Ordering::Relaxed);
            // A futex on memory that is mapped cannot fail to be woken.
            let _ = futex::wake(sleeps, futex::Flags::empty(), 1);
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let bytes = self.header_bytes + 2 * self.capacity_bytes;
        // SAFETY: the addresses were reserved by `map` with this length, and both sides, which
        // hold the memory in an `Arc`, are gone.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), bytes) };
    }
}
