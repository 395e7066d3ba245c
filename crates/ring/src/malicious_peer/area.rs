//! Memory for the test itself: buffers followed by a guard page, and a page shared by the honest side
//! and the adversary.

use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, AtomicU64};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

use crate::memory::page_bytes;

#[derive(Debug)]
struct Area {
    start: NonNull<u8>,
    bytes: usize,
}

impl Area {
    fn map(bytes: usize, flags: MapFlags) -> Self {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: new memory at addresses of the kernel's choice aliases nothing.
        let start = unsafe { mmap_anonymous(null_mut(), bytes, access, flags) }.unwrap();
        Self { start: NonNull::new(start.cast()).unwrap(), bytes }
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this length; all borrows of it are borrows of `self`.
        unsafe { munmap(self.start.as_ptr().cast(), self.bytes) }.unwrap();
    }
}

/// A buffer followed by an inaccessible page.
#[derive(Debug)]
pub(super) struct Buffer {
    area: Area,
    usable_bytes: usize,
}

impl Buffer {
    /// Creates a buffer of `bytes`, which is a multiple of the page size.
    pub(super) fn new(bytes: usize) -> Self {
        let guard = page_bytes();
        let area = Area::map(bytes + guard, MapFlags::PRIVATE);
        // SAFETY: the last page of the area, to which nothing was written.
        unsafe {
            let end = area.start.add(bytes).as_ptr().cast();
            mprotect(end, guard, MprotectFlags::empty()).unwrap();
        }
        Self { area, usable_bytes: bytes }
    }

    /// The last `bytes` bytes of the buffer, directly before the inaccessible page.
    pub(super) fn last(&mut self, bytes: usize) -> &mut [u8] {
        assert!(bytes <= self.usable_bytes);
        // SAFETY: inside the area, which the kernel initialized and which has no other user.
        unsafe {
            let start = self.area.start.add(self.usable_bytes - bytes);
            std::slice::from_raw_parts_mut(start.as_ptr(), bytes)
        }
    }
}

/// Hints from the honest side to the adversary, so that the lies are in places that it reads.
#[derive(Debug)]
pub(super) struct Hints {
    /// Position of the honest side, bytes since the start of the ring's use.
    pub(super) position: AtomicU64,
    /// Whether the honest side has finished and needs no more lies.
    pub(super) is_done: AtomicBool,
}

/// Hints in a page that is shared with a process forked later.
#[derive(Debug)]
pub(super) struct SharedHints(Area);

impl SharedHints {
    pub(super) fn new() -> Self {
        Self(Area::map(page_bytes(), MapFlags::SHARED))
    }

    pub(super) fn hints(&self) -> &Hints {
        // SAFETY: they fit into a page, zeros are valid, and both are atomic.
        unsafe { self.0.start.cast().as_ref() }
    }
}

// SAFETY: all shared state is atomic.
unsafe impl Send for SharedHints {}
// SAFETY: as for `Send`.
unsafe impl Sync for SharedHints {}
