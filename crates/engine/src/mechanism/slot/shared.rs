//! Shared memory for slots.

use std::os::fd::OwnedFd;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FallocateFlags, fallocate, fstat};
use rustix::io::{Errno, pwrite, retry_on_intr};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::platform::memory::populate_write;

/// A mapping of shared memory.
#[derive(Debug)]
pub(in super::super) struct SlotMemory {
    pub(super) start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is shared by design; it is accessed through atomics and through the protocol of the
// slot, which gives the payload to one side at a time.
unsafe impl Send for SlotMemory {}
// SAFETY: as for `Send`.
unsafe impl Sync for SlotMemory {}

impl SlotMemory {
    /// Maps `bytes` bytes of new memory without a name: of a memfd, where there are memfds.
    #[cfg(any(target_os = "linux", target_os = "freebsd"))]
    pub(in super::super) fn new_unnamed(bytes: usize) -> Result<Self, Errno> {
        Ok(Self { start: crate::platform::memory::map_shared("ipcperf-slot", bytes)?, bytes })
    }

    /// Maps `bytes` bytes of `file`, an empty file in a file system.
    pub(in super::super) fn from_file(file: &OwnedFd, bytes: usize) -> Result<Self, Errno> {
        allocate(file, bytes as u64)?;
        Self::map(file, bytes)
    }

    /// Maps `bytes` bytes of `file`, which the other program has created with this length.
    pub(in super::super) fn from_peer(file: &OwnedFd, bytes: usize) -> Result<Self, Errno> {
        // An access beyond the end would end the process.
        if u64::try_from(fstat(file)?.st_size).unwrap_or(0) < bytes as u64 {
            return Err(Errno::INVAL);
        }
        Self::map(file, bytes)
    }

    fn map(file: &OwnedFd, bytes: usize) -> Result<Self, Errno> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address chosen by the kernel aliases nothing.
        let start = unsafe { mmap(null_mut(), bytes, access, MapFlags::SHARED, file, 0) }?;
        Ok(Self { start: NonNull::new(start.cast()).ok_or(Errno::NOMEM)?, bytes })
    }

    /// Makes every page present in the calling process.
    pub(super) fn populate(&self) -> Result<(), Errno> {
        // SAFETY: the range is this mapping.
        let done = unsafe { populate_write(self.start, self.bytes) };
        if done != Err(Errno::INVAL) {
            return done;
        }
        // Before Linux 5.14 and on other systems, write to each page by adding 0 to its first word.
        for at in (0..self.bytes).step_by(rustix::param::page_size()) {
            // SAFETY: page-aligned and inside the mapping, where the first word of a page is either an atomic
            // of a header, or payload that nothing uses before the peers have synchronized.
            unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(at).cast()) }
                .fetch_add(0, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// For mechanisms that need Linux.
#[cfg(target_os = "linux")]
impl SlotMemory {
    /// Takes over a mapping.
    ///
    /// # Safety
    /// `start` must be the start of a shared mapping of `bytes` zeros that nothing else will unmap.
    pub(in super::super) unsafe fn from_mapping(start: NonNull<u8>, bytes: usize) -> Self {
        Self { start, bytes }
    }

    /// Returns the address of the first byte.
    pub(in super::super) fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for SlotMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping has this length, and both sides, which hold it in an `Arc`, are gone.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// Extends `file` to `bytes` bytes and allocates the space: a store to a mapped page for which a full file
/// system has no space kills the process (SIGBUS).
fn allocate(file: &OwnedFd, bytes: u64) -> Result<(), Errno> {
    match retry_on_intr(|| fallocate(file, FallocateFlags::empty(), 0, bytes)) {
        // Not every file system supports this; then writing allocates the space.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => write_zeros(file, bytes),
        allocated => allocated,
    }
}

fn write_zeros(file: &OwnedFd, bytes: u64) -> Result<(), Errno> {
    let (zeros, mut at) = ([0; 64 << 10], 0);
    while at < bytes {
        let part = usize::try_from(bytes - at).unwrap_or(usize::MAX).min(zeros.len());
        at += retry_on_intr(|| pwrite(file, &zeros[..part], at))? as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rustix::fs::{MemfdFlags, memfd_create};

    use super::*;

    #[test]
    fn a_file_has_room_for_all_of_it_however_that_is_taken() {
        let bytes = (64 << 10) + 5_000;
        for take in [allocate, write_zeros] {
            // A file of the kernel's internal tmpfs.
            let file = memfd_create("ipcperf-test", MemfdFlags::CLOEXEC).unwrap();
            take(&file, bytes).unwrap();
            let facts = fstat(&file).unwrap();
            assert_eq!(u64::try_from(facts.st_size), Ok(bytes));
            // Counted in units of 512 bytes.
            assert!(u64::try_from(facts.st_blocks).unwrap() * 512 >= bytes, "{facts:?}");
        }
    }

    #[test]
    fn a_file_of_the_peer_that_is_too_short_is_not_mapped() {
        let file = memfd_create("ipcperf-test", MemfdFlags::CLOEXEC).unwrap();
        allocate(&file, 4_096).unwrap();
        SlotMemory::from_peer(&file, 4_096).unwrap();
        assert_eq!(SlotMemory::from_peer(&file, 4_097).unwrap_err(), Errno::INVAL);
    }
}
