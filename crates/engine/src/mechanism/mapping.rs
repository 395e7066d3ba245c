//! Files mapped into memory that both peers share.

use std::os::fd::AsFd;
use std::ptr::{NonNull, null_mut};

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

/// Access that a mapping allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Read only, with every page present from the start.
    Read,
    /// Read only, with each page faulted in at its first read.
    ReadLazy,
    /// Read and write.
    Write,
}

/// A mapping of the beginning of a file. Another process may change it at any time, so callers copy from and
/// to it, and borrow from it only while a protocol keeps the other process away.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is shared by design, and copying from and to it needs no particular thread.
unsafe impl Send for Mapping {}
// SAFETY: as for `Send`; the protocol between those who share the memory decides who may copy when.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `bytes` bytes (at least 1) of `file`.
    pub(super) fn new(file: impl AsFd, bytes: usize, access: Access) -> Result<Self, Errno> {
        let (protection, kind) = match access {
            Access::Read => (ProtFlags::READ, MapFlags::SHARED | MapFlags::POPULATE),
            Access::ReadLazy => (ProtFlags::READ, MapFlags::SHARED),
            Access::Write => (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED),
        };
        // SAFETY: a new mapping at an address chosen by the kernel aliases nothing.
        let start = unsafe { mmap(null_mut(), bytes, protection, kind, file, 0) }?;
        Ok(Self { start: NonNull::new(start.cast()).ok_or(Errno::NOMEM)?, bytes })
    }

    /// Makes every page present and writable in the calling process.
    pub(super) fn populate(&self) -> Result<(), Errno> {
        self.advise(Advice::LinuxPopulateWrite)
    }

    /// Makes every page present in the calling process.
    pub(super) fn populate_read(&self) -> Result<(), Errno> {
        self.advise(Advice::LinuxPopulateRead)
    }

    fn advise(&self, advice: Advice) -> Result<(), Errno> {
        // SAFETY: the range is this mapping, and populating does not change its contents.
        let done = unsafe { madvise(self.start.as_ptr().cast(), self.bytes, advice) };
        // Before Linux 5.14 the first messages take the page faults.
        if done == Err(Errno::INVAL) { Ok(()) } else { done }
    }

    /// Returns the address of offset `at`, from which `bytes` bytes lie inside the mapping.
    ///
    /// # Panics
    /// If they do not: values from another process must not lead outside the mapping.
    #[inline]
    pub(super) fn address(&self, at: usize, bytes: usize) -> *mut u8 {
        assert!(at <= self.bytes && bytes <= self.bytes - at, "outside of the mapping");
        // SAFETY: inside the mapping, as just checked.
        unsafe { self.start.as_ptr().add(at) }
    }

    /// Borrows `bytes` bytes from offset `at`.
    ///
    /// # Safety
    /// While the slice lives, nothing may write to these bytes, through this mapping or another.
    #[inline]
    pub(super) unsafe fn borrow(&self, at: usize, bytes: usize) -> &[u8] {
        // SAFETY: inside the mapping, and unchanged by this function's contract.
        unsafe { std::slice::from_raw_parts(self.address(at, bytes), bytes) }
    }

    /// Borrows `bytes` bytes from offset `at` for writing.
    ///
    /// # Safety
    /// While the slice lives, nothing else may read or write these bytes, through this mapping or another.
    #[inline]
    pub(super) unsafe fn borrow_mut(&mut self, at: usize, bytes: usize) -> &mut [u8] {
        // SAFETY: inside the mapping, and exclusive by this function's contract.
        unsafe { std::slice::from_raw_parts_mut(self.address(at, bytes), bytes) }
    }

    /// Copies `from` to offset `at`.
    #[inline]
    pub(super) fn copy_in(&self, at: usize, from: &[u8]) {
        let target = self.address(at, from.len());
        // SAFETY: the range lies inside the mapping, which no slice of this process covers.
        unsafe { target.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
    }

    /// Fills `into` from offset `at`.
    #[inline]
    pub(super) fn copy_out(&self, at: usize, into: &mut [u8]) {
        let source = self.address(at, into.len());
        // SAFETY: as for `copy_in`.
        unsafe { into.as_mut_ptr().copy_from_nonoverlapping(source, into.len()) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` made the mapping with this length, and nothing borrows from it.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
