//! Files mapped into memory that both parties share.

use std::os::fd::AsFd;
use std::ptr::{NonNull, null_mut};

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

/// What may be done with a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Reading alone, every page being present from the start.
    Read,
    /// Reading alone, each page being fetched when it is read first.
    ReadLater,
    /// Reading and writing.
    Write,
}

/// The beginning of a file, mapped. Another process may change it at any time, so it is copied from
/// and to, and borrowed only while a protocol keeps the others away.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is shared by design; copying from and to it needs no particular thread.
unsafe impl Send for Mapping {}
// SAFETY: as for `Send`: who may copy when is settled by the protocol of those who share it.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `bytes` (at least 1) of `file`.
    pub(super) fn of(file: impl AsFd, bytes: usize, access: Access) -> Result<Self, Errno> {
        let (rights, kind) = match access {
            Access::Read => (ProtFlags::READ, MapFlags::SHARED | MapFlags::POPULATE),
            Access::ReadLater => (ProtFlags::READ, MapFlags::SHARED),
            Access::Write => (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED),
        };
        // SAFETY: a new mapping at an address of the kernel's choice aliases nothing.
        let start = unsafe { mmap(null_mut(), bytes, rights, kind, file, 0) }?;
        Ok(Self { start: NonNull::new(start.cast()).ok_or(Errno::NOMEM)?, bytes })
    }

    /// Makes every page present and writable in the calling process.
    pub(super) fn populate(&self) -> Result<(), Errno> {
        self.advise(Advice::LinuxPopulateWrite)
    }

    /// Makes every page present in the calling process.
    pub(super) fn populate_to_read(&self) -> Result<(), Errno> {
        self.advise(Advice::LinuxPopulateRead)
    }

    fn advise(&self, advice: Advice) -> Result<(), Errno> {
        // SAFETY: the range is this mapping; populating does not change its contents.
        let done = unsafe { madvise(self.start.as_ptr().cast(), self.bytes, advice) };
        // Before Linux 5.14 the first messages take the faults.
        if done == Err(Errno::INVAL) { Ok(()) } else { done }
    }

    /// The address of offset `at`, from which `bytes` lie inside.
    ///
    /// # Panics
    /// Where they do not: what another process says must not lead outside.
    #[inline]
    pub(super) fn address(&self, at: usize, bytes: usize) -> *mut u8 {
        assert!(at <= self.bytes && bytes <= self.bytes - at, "outside of the mapping");
        // SAFETY: inside the mapping, as just checked.
        unsafe { self.start.as_ptr().add(at) }
    }

    /// The `bytes` from offset `at` on.
    ///
    /// # Safety
    /// As long as the slice lives nobody may write there, through this mapping or another.
    #[inline]
    pub(super) unsafe fn borrow(&self, at: usize, bytes: usize) -> &[u8] {
        // SAFETY: inside the mapping, and by this function's contract left alone.
        unsafe { std::slice::from_raw_parts(self.address(at, bytes), bytes) }
    }

    /// The `bytes` from offset `at` on, for writing.
    ///
    /// # Safety
    /// As long as the slice lives nobody else may read or write there, through this mapping or another.
    #[inline]
    pub(super) unsafe fn borrow_mut(&mut self, at: usize, bytes: usize) -> &mut [u8] {
        // SAFETY: inside the mapping, and by this function's contract nobody else's.
        unsafe { std::slice::from_raw_parts_mut(self.address(at, bytes), bytes) }
    }

    /// Copies `from` to offset `at`.
    #[inline]
    pub(super) fn copy_in(&self, at: usize, from: &[u8]) {
        let target = self.address(at, from.len());
        // SAFETY: the range lies inside the mapping, which no slice of this process covers.
        unsafe { target.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
    }

    /// Fills `into` from offset `at` on.
    #[inline]
    pub(super) fn copy_out(&self, at: usize, into: &mut [u8]) {
        let source = self.address(at, into.len());
        // SAFETY: as for `copy_in`.
        unsafe { into.as_mut_ptr().copy_from_nonoverlapping(source, into.len()) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `of` with this length and nothing borrows from it.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
