//! Memory of a ring: a header, the records mapped twice back to back, and the pool.

use std::io;
use std::os::fd::OwnedFd;
use std::ptr::{NonNull, null_mut};

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

use crate::geometry::Geometry;
use crate::header::Header;
use crate::shared_file;
use crate::sync::AtomicU64;

/// Granularity of mappings, bytes.
pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// The mapping. Header, records and pool lie between inaccessible guard pages: an access beyond the end of one raises a
/// signal and touches nothing else.
///
/// ```text
/// guard, header, guard, records, records again, guard, pool, guard
/// ```
#[derive(Debug)]
pub(crate) struct Memory {
    _reserved: ReservedRange,
    header: NonNull<Header>,
    records: NonNull<u8>,
    pool: NonNull<u8>,
    pub(crate) geometry: Geometry,
}

// SAFETY: the memory is shared by design; it is accessed through atomics and through the protocol of producer and
// consumer, each of which is the only one of its kind.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

/// A reserved address range to which nothing else is mapped.
#[derive(Debug)]
struct ReservedRange {
    start: NonNull<u8>,
    bytes: usize,
}

impl ReservedRange {
    fn new(bytes: usize) -> io::Result<Self> {
        // SAFETY: reserving addresses of the kernel's choice aliases nothing.
        let start =
            unsafe { mmap_anonymous(null_mut(), bytes, ProtFlags::empty(), MapFlags::PRIVATE) }?;
        Ok(Self { start: NonNull::new(start.cast()).ok_or(Errno::NOMEM)?, bytes })
    }

    /// Maps `bytes` of `file`, starting from `from`, at offset `at`.
    fn map(&self, file: &OwnedFd, at: usize, from: usize, bytes: usize) -> io::Result<()> {
        assert!(at + bytes <= self.bytes, "inside what is reserved");
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let kind = MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: the range lies inside the reservation and, because of the layout in `Memory::map`, is still unused,
        // so MAP_FIXED replaces only that reservation.
        unsafe {
            let address = self.start.as_ptr().add(at).cast();
            mmap(address, bytes, access, kind, file, from as u64)
        }?;
        Ok(())
    }

    fn address(&self, at: usize) -> NonNull<u8> {
        assert!(at <= self.bytes, "inside what is reserved");
        // SAFETY: the address is inside the reservation, or at its end.
        unsafe { self.start.add(at) }
    }
}

impl Drop for ReservedRange {
    fn drop(&mut self) {
        // SAFETY: the addresses were reserved with this length, and both sides, which hold the memory in an `Arc`, are
        // gone.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

fn header_bytes() -> usize {
    size_of::<Header>().next_multiple_of(page_bytes())
}

impl Memory {
    /// Maps a new ring.
    pub(crate) fn map(geometry: Geometry) -> io::Result<Self> {
        Self::create(geometry).map(|(memory, _)| memory)
    }

    /// Maps a new ring, and returns its file.
    pub(crate) fn create(geometry: Geometry) -> io::Result<(Self, OwnedFd)> {
        let file = shared_file::create(Self::file_bytes(geometry))?;
        Ok((Self::map_file(&file, geometry)?, file))
    }

    /// Maps the ring of `geometry` that another program created in `file`.
    pub(crate) fn open(file: &OwnedFd, geometry: Geometry) -> io::Result<Self> {
        shared_file::check(file, Self::file_bytes(geometry))?;
        Self::map_file(file, geometry)
    }

    fn file_bytes(geometry: Geometry) -> usize {
        header_bytes() + geometry.capacity_bytes + geometry.pool_bytes()
    }

    fn map_file(file: &OwnedFd, geometry: Geometry) -> io::Result<Self> {
        let (guard, header) = (page_bytes(), header_bytes());
        let (capacity, pool) = (geometry.capacity_bytes, geometry.pool_bytes());
        let records_at = guard + header + guard;
        let pool_at = records_at + 2 * capacity + guard;
        let reserved = ReservedRange::new(pool_at + pool + guard)?;
        reserved.map(file, guard, 0, header)?;
        reserved.map(file, records_at, header, capacity)?;
        reserved.map(file, records_at + capacity, header, capacity)?;
        if pool > 0 {
            reserved.map(file, pool_at, header + capacity, pool)?;
        }
        let [header, records, pool] = [guard, records_at, pool_at].map(|at| reserved.address(at));
        Ok(Self { _reserved: reserved, header: header.cast(), records, pool, geometry })
    }

    /// Address and length of header, records and pool.
    fn parts(&self) -> [(NonNull<u8>, usize); 3] {
        let Geometry { capacity_bytes, .. } = self.geometry;
        [
            (self.header.cast(), header_bytes()),
            (self.records, 2 * capacity_bytes),
            (self.pool, self.geometry.pool_bytes()),
        ]
    }

    /// Makes every page present in the calling process, so that no later access faults.
    pub(crate) fn populate(&self) -> io::Result<()> {
        for (start, bytes) in self.parts().into_iter().filter(|&(_, bytes)| bytes > 0) {
            populate(start, bytes)?;
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn header(&self) -> &Header {
        // SAFETY: a page-aligned header is mapped there, which is accessed only through atomics, for which any bits are
        // valid; it lives as long as `self`.
        unsafe { self.header.as_ref() }
    }

    /// Address of `position` (bytes since the ring's creation) in the first copy. At least the whole capacity
    /// is addressable from there on.
    #[inline]
    fn address(&self, position: u64) -> *mut u8 {
        #[allow(clippy::cast_possible_truncation, reason = "masked to less than the capacity")]
        let offset = position as usize & (self.geometry.capacity_bytes - 1);
        // SAFETY: offset < capacity, so the address lies in the first copy of the records.
        unsafe { self.records.as_ptr().add(offset) }
    }

    /// Word at `position`, which is a multiple of 8.
    #[inline]
    pub(crate) fn word(&self, position: u64) -> &AtomicU64 {
        debug_assert_eq!(position % 8, 0);
        // SAFETY: 8-aligned (page-aligned start, position a multiple of 8) and inside the mapping; while both sides use
        // the memory, the words of records are accessed only as atomics.
        unsafe { AtomicU64::from_ptr(self.address(position).cast()) }
    }

    /// Address at which the producer writes a payload of `bytes` at `position`.
    #[inline]
    pub(crate) fn target(&self, position: u64, _bytes: usize) -> *mut u8 {
        self.address(position)
    }

    /// Address at which the consumer reads it.
    #[inline]
    pub(crate) fn source(&self, position: u64, _bytes: usize) -> *const u8 {
        self.address(position)
    }

    /// Address at which the producer writes the payload of slot `number` of the pool.
    #[inline]
    pub(crate) fn slot_target(&self, number: u32) -> *mut u8 {
        debug_assert!(number < self.geometry.slots);
        // SAFETY: the pool has `slots` slots of `slot_bytes`.
        unsafe { self.pool.as_ptr().add(number as usize * self.geometry.slot_bytes) }
    }

    /// Address at which the consumer reads it.
    #[inline]
    pub(crate) fn slot_source(&self, number: u32) -> *const u8 {
        self.slot_target(number)
    }
}

/// Makes the pages of a mapped range present.
#[cfg(target_os = "linux")]
fn populate(start: NonNull<u8>, bytes: usize) -> io::Result<()> {
    use rustix::mm::{Advice, madvise};

    // SAFETY: the range is mapped; populating does not change its contents.
    let done = unsafe { madvise(start.as_ptr().cast(), bytes, Advice::LinuxPopulateWrite) };
    match done {
        // Before Linux 5.14, read each page instead.
        Err(Errno::INVAL) => read_each_page(start, bytes),
        other => other?,
    }
    Ok(())
}

/// Makes the pages of a mapped range present.
#[cfg(not(target_os = "linux"))]
#[allow(clippy::unnecessary_wraps, reason = "fails on Linux")]
fn populate(start: NonNull<u8>, bytes: usize) -> io::Result<()> {
    read_each_page(start, bytes);
    Ok(())
}

fn read_each_page(start: NonNull<u8>, bytes: usize) {
    for at in (0..bytes).step_by(page_bytes()) {
        // SAFETY: inside the range, which is mapped; the byte's value is not used.
        unsafe { start.as_ptr().add(at).read_volatile() };
    }
}

#[cfg(test)]
mod tests {
    use std::io::pipe;
    use std::os::fd::AsRawFd;

    use super::*;
    use crate::Options;

    /// Whether the byte at `address` is readable. Checked through a system call, which fails without a signal.
    fn is_readable(address: *const u8) -> bool {
        let (_reader, writer) = pipe().unwrap();
        // SAFETY: the kernel returns an error for an address that is not readable.
        unsafe { libc::write(writer.as_raw_fd(), address.cast(), 1) == 1 }
    }

    fn map(slots: u32) -> Memory {
        let options = Options { capacity_bytes: 1, slots, slot_bytes: 1, ..Options::default() };
        Memory::map(Geometry::from_options(&options, page_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn each_part_lies_between_pages_that_cannot_be_accessed() {
        for slots in [0, 2] {
            let memory = map(slots);
            memory.populate().unwrap();
            for (start, bytes) in memory.parts() {
                let (start, end) = (start.as_ptr(), start.as_ptr().wrapping_add(bytes));
                // The guard pages are reserved, so that nothing else can be mapped there.
                let reserved = memory._reserved.start.as_ptr();
                assert!(reserved < start);
                assert!(end < reserved.wrapping_add(memory._reserved.bytes));
                assert!(!is_readable(start.wrapping_sub(1)), "{slots}: {bytes} bytes");
                assert!(!is_readable(end), "{slots}: {bytes} bytes");
                let inside = [start, end.wrapping_sub(1)].map(|at| is_readable(at));
                assert_eq!(inside, [bytes > 0; 2], "{slots}: {bytes} bytes");
            }
        }
    }
}
