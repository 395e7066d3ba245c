//! Memory that two processes share, and whose pages are present before it is used.

use std::ptr::NonNull;

use ipcperf_model::Unavailable;
use rustix::io::Errno;
use rustix::mm::MapFlags;

/// Flags of a mapping whose pages are present from the start. These systems have no such flag: the first access makes a
/// page present.
pub(crate) const POPULATED: MapFlags = MapFlags::empty();

/// Reports that these systems have no call that makes pages present: the caller accesses them instead.
///
/// # Errors
/// Always `EINVAL`, as Linux before 5.14.
///
/// # Safety
/// None: nothing is accessed.
#[allow(clippy::unnecessary_wraps, reason = "succeeds on Linux")]
pub(crate) unsafe fn populate_write(_: NonNull<u8>, _: usize) -> Result<(), Errno> {
    Err(Errno::INVAL)
}

/// Maps `bytes` of zeroes that processes forked from this one share.
///
/// # Errors
/// Returns the system's error.
#[cfg(target_os = "freebsd")]
pub(crate) fn map_shared(_: &str, bytes: usize) -> Result<NonNull<u8>, Errno> {
    use rustix::mm::{ProtFlags, mmap_anonymous};

    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address chosen by the kernel aliases nothing.
    let start = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, access, MapFlags::SHARED) }?;
    NonNull::new(start.cast()).ok_or(Errno::NOMEM)
}

/// Checks that shared memory can be created: anonymous mappings always can.
#[allow(clippy::unnecessary_wraps, reason = "may fail on Linux")]
pub(crate) fn shared_memory_available() -> Result<(), Unavailable> {
    Ok(())
}
