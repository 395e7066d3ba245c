//! Memory that the peers of a run share, whether they inherit it from the worker or open it by its path.

use std::cell::Cell;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::ptr::{NonNull, null_mut};

use rustix::fs::{Mode, OFlags, fstat, ftruncate, open};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous};

/// Where the memory comes from.
#[derive(Debug)]
pub enum PeerMemory {
    /// New memory, which threads and forked processes share.
    Inherited,
    /// A new file, which grows with each request.
    NewFile(SharedFile),
    /// A file that another process has created with the same requests, in the same order.
    File(SharedFile),
}

/// A file of which each request maps the next part.
#[derive(Debug)]
pub struct SharedFile {
    file: OwnedFd,
    /// Start of the next part, bytes.
    next: Cell<u64>,
}

impl SharedFile {
    fn new(path: &Path, flags: OFlags, mode: Mode) -> Result<Self, Errno> {
        let flags = flags | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(Self { file: open(path, flags, mode)?, next: Cell::new(0) })
    }

    /// Returns the position of the next part, of `bytes`.
    fn take(&self, bytes: usize) -> Result<u64, Errno> {
        let whole_pages = bytes.checked_next_multiple_of(rustix::param::page_size());
        let start = self.next.get();
        let end = whole_pages.and_then(|bytes| start.checked_add(bytes as u64));
        self.next.set(end.ok_or(Errno::NOMEM)?);
        Ok(start)
    }

    fn map(&self, bytes: usize, start: u64) -> Result<*mut std::ffi::c_void, Errno> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice aliases nothing in this process; other processes
        // that map the file access it like this one, only through atomics.
        unsafe { mmap(null_mut(), bytes, access, MapFlags::SHARED, &self.file, start) }
    }
}

impl PeerMemory {
    /// Creates the file `path`, to which `mode` gives access.
    ///
    /// # Errors
    /// Returns the system's error.
    pub fn create(path: &Path, mode: Mode) -> Result<Self, Errno> {
        SharedFile::new(path, OFlags::CREATE | OFlags::EXCL, mode).map(Self::NewFile)
    }

    /// Opens the file that another process has created.
    ///
    /// # Errors
    /// Returns the system's error.
    pub fn open(path: &Path) -> Result<Self, Errno> {
        SharedFile::new(path, OFlags::empty(), Mode::empty()).map(Self::File)
    }

    /// Maps `bytes` of zeroed memory, from the start of a page. They stay mapped until the process ends.
    ///
    /// # Errors
    /// Returns `ENOMEM` if the system cannot provide the memory, and `EINVAL` if the file is shorter than its creator has
    /// made it.
    pub fn map(&self, bytes: usize) -> Result<NonNull<u8>, Errno> {
        let start = match self {
            Self::Inherited => {
                let access = ProtFlags::READ | ProtFlags::WRITE;
                // SAFETY: a new mapping at an address of the kernel's choice aliases nothing.
                unsafe { mmap_anonymous(null_mut(), bytes, access, MapFlags::SHARED)? }
            }
            Self::NewFile(file) => {
                let start = file.take(bytes)?;
                ftruncate(&file.file, file.next.get())?;
                file.map(bytes, start)?
            }
            Self::File(file) => {
                let start = file.take(bytes)?;
                let length = u64::try_from(fstat(&file.file)?.st_size).unwrap_or(0);
                if length < file.next.get() {
                    // An access beyond the end would end the process.
                    return Err(Errno::INVAL);
                }
                file.map(bytes, start)?
            }
        };
        NonNull::new(start.cast()).ok_or(Errno::NOMEM)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::temp_dir::TempDir;

    /// The first word of a part.
    fn word(memory: &PeerMemory, bytes: usize) -> &'static AtomicU64 {
        let start = memory.map(bytes).unwrap();
        // SAFETY: mapped with at least 8 bytes, page-aligned, zeroed or written as an `AtomicU64`, and never unmapped.
        unsafe { AtomicU64::from_ptr(start.as_ptr().cast()) }
    }

    #[test]
    fn the_same_requests_map_the_same_parts() {
        let folder = TempDir::new().unwrap();
        let path = folder.path("memory");
        let created = PeerMemory::create(&path, Mode::RUSR | Mode::WUSR).unwrap();
        let own = [100, 5_000, 8].map(|bytes| word(&created, bytes));
        let opened = PeerMemory::open(&path).unwrap();
        let other = [100, 5_000, 8].map(|bytes| word(&opened, bytes));
        for (number, (own, other)) in (7..).zip(own.iter().zip(other)) {
            assert_eq!(other.load(Ordering::Relaxed), 0);
            own.store(number, Ordering::Relaxed);
            assert_eq!(other.load(Ordering::Relaxed), number);
        }
        assert_eq!(opened.map(8), Err(Errno::INVAL), "the file has no fourth part");
        assert_eq!(PeerMemory::create(&path, Mode::RUSR).unwrap_err(), Errno::EXIST);
    }
}
