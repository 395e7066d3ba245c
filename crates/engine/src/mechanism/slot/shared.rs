//! The shared memory that slots lie in.

use std::os::fd::OwnedFd;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use super::super::Unavailable;

/// Shared memory, mapped.
#[derive(Debug)]
pub(in super::super) struct Shared {
    pub(super) start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is shared by design; it is reached through atomics and through the protocol
// of the slot, which gives the payload to one side at a time.
unsafe impl Send for Shared {}
// SAFETY: as for `Send`.
unsafe impl Sync for Shared {}

impl Shared {
    /// Maps `bytes` of a new memfd.
    pub(in super::super) fn memfd(bytes: usize) -> Result<Self, Errno> {
        Self::of_file(&memfd_create("ipcperf-slot", MemfdFlags::CLOEXEC)?, bytes)
    }

    /// Maps the first `bytes` of `file`, made so long.
    pub(in super::super) fn of_file(file: &OwnedFd, bytes: usize) -> Result<Self, Errno> {
        ftruncate(file, bytes as u64)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice aliases nothing.
        let start = unsafe { mmap(null_mut(), bytes, access, MapFlags::SHARED, file, 0) }?;
        Ok(Self { start: NonNull::new(start.cast()).ok_or(Errno::NOMEM)?, bytes })
    }

    /// Takes over a mapping.
    ///
    /// # Safety
    /// `start` must be that of a shared mapping of `bytes` zeroes that nobody else will unmap.
    pub(in super::super) unsafe fn of_mapping(start: NonNull<u8>, bytes: usize) -> Self {
        Self { start, bytes }
    }

    /// Its first byte.
    pub(in super::super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Makes every page present in the calling process.
    pub(super) fn populate(&self) -> Result<(), Errno> {
        // SAFETY: the range is this mapping; populating does not change its contents.
        let done =
            unsafe { madvise(self.start.as_ptr().cast(), self.bytes, Advice::LinuxPopulateWrite) };
        if done != Err(Errno::INVAL) {
            return done;
        }
        // Before Linux 5.14 each page is written to by adding nothing to its first word.
        for at in (0..self.bytes).step_by(rustix::param::page_size()) {
            // SAFETY: page-aligned and inside the mapping, where the first word of a page is either
            // an atomic of a header or payload that nobody uses before the parties have met.
            unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(at).cast()) }
                .fetch_add(0, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping has this length, and both sides, which hold it in an `Arc`, are gone.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// Whether a memfd can be had.
pub(in super::super) fn memory_available() -> Result<(), Unavailable> {
    memfd_create("ipcperf-probe", MemfdFlags::CLOEXEC).map(drop).map_err(|errno| Unavailable {
        reason: format!("memfd_create: {errno}"),
        remedy: "needs Linux 3.17 and a seccomp filter that lets memfd_create through".to_owned(),
    })
}
