//! The memory of a ring: a header, the records mapped twice back to back, and the pool.

use std::io;
use std::os::fd::OwnedFd;
use std::ptr::{NonNull, null_mut};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};

use crate::geometry::Geometry;
use crate::header::Header;
use crate::sync::AtomicU64;

/// What memory is mapped in units of.
pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// The mapping.
#[derive(Debug)]
pub(crate) struct Memory {
    start: NonNull<u8>,
    header_bytes: usize,
    pub(crate) geometry: Geometry,
}

// SAFETY: the memory is shared by design; it is reached through atomics and through the protocol
// of producer and consumer, each of which is the only one of its kind.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

impl Memory {
    /// Maps a new ring.
    pub(crate) fn map(geometry: Geometry) -> io::Result<Self> {
        let header_bytes = size_of::<Header>().next_multiple_of(rustix::param::page_size());
        let (capacity_bytes, pool_bytes) = (geometry.capacity_bytes, geometry.pool_bytes());
        let file = memfd_create("ipcperf-ring", MemfdFlags::CLOEXEC)?;
        let in_file = header_bytes + capacity_bytes + pool_bytes;
        ftruncate(&file, in_file as u64)?;
        let reserved = in_file + capacity_bytes;
        // SAFETY: reserving addresses of the kernel's choice aliases nothing.
        let start =
            unsafe { mmap_anonymous(null_mut(), reserved, ProtFlags::empty(), MapFlags::PRIVATE) }?;
        let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
        let memory = Self { start, header_bytes, geometry };
        let first = header_bytes + capacity_bytes;
        memory.place(&file, 0, 0, first)?;
        // The records once more, and what follows them in the file.
        memory.place(&file, first, header_bytes, capacity_bytes + pool_bytes)?;
        Ok(memory)
    }

    /// Maps `bytes` of `file` from `from` on at offset `at` of the reserved addresses.
    fn place(&self, file: &OwnedFd, at: usize, from: usize, bytes: usize) -> io::Result<()> {
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

    fn mapped_bytes(&self) -> usize {
        self.header_bytes + 2 * self.geometry.capacity_bytes + self.geometry.pool_bytes()
    }

    /// Makes every page present in the calling process, so that none is had by a fault later.
    pub(crate) fn populate(&self) -> io::Result<()> {
        let bytes = self.mapped_bytes();
        // SAFETY: the range is this mapping; populating does not change its contents.
        let done =
            unsafe { madvise(self.start.as_ptr().cast(), bytes, Advice::LinuxPopulateWrite) };
        match done {
            // Before Linux 5.14 reading each page has to do.
            Err(Errno::INVAL) => {
                self.read_each_page(bytes);
                Ok(())
            }
            other => Ok(other?),
        }
    }

    fn read_each_page(&self, bytes: usize) {
        for at in (0..bytes).step_by(rustix::param::page_size()) {
            // SAFETY: inside the mapping; the byte's value is not used.
            unsafe { self.start.as_ptr().add(at).read_volatile() };
        }
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: the mapping begins with a page-aligned header that is only reached through
        // atomics; a new memfd is all zero, which is a valid header; it lives as long as `self`.
        unsafe { self.start.cast().as_ref() }
    }

    /// The address of `position` (bytes since the beginning) in the first copy. At least the whole
    /// capacity is addressable from there on.
    #[inline]
    fn address(&self, position: u64) -> *mut u8 {
        #[allow(clippy::cast_possible_truncation, reason = "masked to less than the capacity")]
        let offset = position as usize & (self.geometry.capacity_bytes - 1);
        // SAFETY: offset < capacity, so the address lies in the first copy of the records.
        unsafe { self.start.as_ptr().add(self.header_bytes + offset) }
    }

    /// The word at `position`, which is a multiple of 8.
    #[inline]
    pub(crate) fn word(&self, position: u64) -> &AtomicU64 {
        debug_assert_eq!(position % 8, 0);
        // SAFETY: 8-aligned (page-aligned start, position a multiple of 8) and inside the mapping;
        // records' words are only ever reached as atomics while both sides know of them.
        unsafe { AtomicU64::from_ptr(self.address(position).cast()) }
    }

    /// Where the producer writes a payload of `bytes` from `position` on.
    #[inline]
    pub(crate) fn target(&self, position: u64, _bytes: usize) -> *mut u8 {
        self.address(position)
    }

    /// Where the consumer reads it.
    #[inline]
    pub(crate) fn source(&self, position: u64, _bytes: usize) -> *const u8 {
        self.address(position)
    }

    /// Where the producer writes the payload that slot `number` of the pool holds.
    #[inline]
    pub(crate) fn slot_target(&self, number: u32) -> *mut u8 {
        debug_assert!(number < self.geometry.slots);
        let at = self.header_bytes
            + 2 * self.geometry.capacity_bytes
            + number as usize * self.geometry.slot_bytes;
        // SAFETY: there are `slots` slots of `slot_bytes` behind the second copy.
        unsafe { self.start.as_ptr().add(at) }
    }

    /// Where the consumer reads it.
    #[inline]
    pub(crate) fn slot_source(&self, number: u32) -> *const u8 {
        self.slot_target(number)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the addresses were reserved by `map` with this length, and both sides, which
        // hold the memory in an `Arc`, are gone.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.mapped_bytes()) };
    }
}
