//! Page-aligned memory that a peer sends from or receives into.

use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::platform::memory::POPULATED;

/// An anonymous private mapping; every page is present from the start, unless it was left untouched.
///
/// A peer creates its buffers after the fork. If they were touched before it, both processes would share the pages
/// copy-on-write and take the faults again inside the timed region.
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is owned by this value, and access follows Rust's borrow rules.
unsafe impl Send for Buffer {}

impl Buffer {
    /// Maps `bytes` (at least 1) and touches every page by writing `fill` into each byte.
    ///
    /// # Errors
    /// Returns `ENOMEM` if the system cannot provide the memory.
    pub fn new_touched(bytes: usize, fill: u8) -> Result<Self, Errno> {
        let mut buffer = Self::new_untouched(bytes)?;
        buffer.fill(fill);
        Ok(buffer)
    }

    /// Maps `bytes` (at least 1) of zeroes with no page present: the first access to each page faults.
    ///
    /// # Errors
    /// Returns `ENOMEM` if the system cannot provide the memory.
    pub fn new_untouched(bytes: usize) -> Result<Self, Errno> {
        Self::map(bytes, MapFlags::PRIVATE)
    }

    /// Maps `bytes` (at least 1) of zeroes with every page present. Takes half as long as touching, which matters for
    /// hundreds of MiB.
    ///
    /// # Errors
    /// Returns `ENOMEM` if the system cannot provide the memory.
    pub fn new_populated(bytes: usize) -> Result<Self, Errno> {
        Self::map(bytes, MapFlags::PRIVATE | POPULATED)
    }

    fn map(bytes: usize, kind: MapFlags) -> Result<Self, Errno> {
        let (bytes, access) = (bytes.max(1), ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice aliases nothing.
        let start = unsafe { mmap_anonymous(null_mut(), bytes, access, kind) }?;
        let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
        Ok(Self { start, bytes })
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is `bytes` long, readable, initialized by the kernel, and lives as long as `self`;
        // nothing writes to it while this borrow lives.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `deref`, and `&mut self` makes this the only access.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this length and no borrow outlives `self`. Unmapping an
        // existing mapping cannot fail; if it did, the process is about to end anyway.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_page_aligned_and_filled() {
        let buffer = Buffer::new_touched(10_000, 0xA5).unwrap();
        assert_eq!(buffer.as_ptr() as usize % 4096, 0);
        assert_eq!(buffer.len(), 10_000);
        assert!(buffer.iter().all(|&byte| byte == 0xA5));
    }

    #[test]
    fn a_populated_buffer_is_zero() {
        let buffer = Buffer::new_populated(10_000).unwrap();
        assert!(buffer.iter().all(|&byte| byte == 0));
        assert_eq!(Buffer::new_populated(usize::MAX / 2).unwrap_err(), Errno::NOMEM);
    }

    #[test]
    fn an_absurd_size_is_an_error() {
        assert_eq!(Buffer::new_touched(usize::MAX / 2, 0).unwrap_err(), Errno::NOMEM);
    }
}
