//! Memory for the test itself: buffers that end where nothing can be accessed, and a page that honest
//! side and liar share.

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
        // SAFETY: mapped by `map` with this length; what was borrowed of it was borrowed of `self`.
        unsafe { munmap(self.start.as_ptr().cast(), self.bytes) }.unwrap();
    }
}

/// A buffer behind which lies a page that cannot be accessed.
#[derive(Debug)]
pub(super) struct Buffer {
    area: Area,
    usable_bytes: usize,
}

impl Buffer {
    /// `bytes` is a multiple of the size of a page.
    pub(super) fn new(bytes: usize) -> Self {
        let guard = page_bytes();
        let area = Area::map(bytes + guard, MapFlags::PRIVATE);
        // SAFETY: the last page of the area, which nothing was written to.
        unsafe {
            let end = area.start.add(bytes).as_ptr().cast();
            mprotect(end, guard, MprotectFlags::empty()).unwrap();
        }
        Self { area, usable_bytes: bytes }
    }

    /// The last `bytes` bytes, behind which nothing can be accessed.
    pub(super) fn last(&mut self, bytes: usize) -> &mut [u8] {
        assert!(bytes <= self.usable_bytes);
        // SAFETY: inside the area, which the kernel initialised and nobody else has.
        unsafe {
            let start = self.area.start.add(self.usable_bytes - bytes);
            std::slice::from_raw_parts_mut(start.as_ptr(), bytes)
        }
    }
}

/// What the honest side tells the liar, so that the lies are about what it looks at.
#[derive(Debug)]
pub(super) struct Hints {
    /// Where the honest side is, bytes since the beginning.
    pub(super) position: AtomicU64,
    /// The honest side needs no more lies.
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
        // SAFETY: a page holds them, zeros are valid ones, and both are atomic.
        unsafe { self.0.start.cast().as_ref() }
    }
}

// SAFETY: what is shared is atomic.
unsafe impl Send for SharedHints {}
// SAFETY: as for `Send`.
unsafe impl Sync for SharedHints {}
