//! Memory whose pages are present before it is used.

use std::os::fd::OwnedFd;
use std::ptr::NonNull;

use ipcperf_model::Unavailable;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap};

/// Flag with which every page of a new mapping is present.
pub(crate) const POPULATED: MapFlags = MapFlags::POPULATE;

/// Makes `bytes` from `start` present and writable in the calling process.
///
/// # Errors
/// Returns `EINVAL` before Linux 5.14, or another error of the system.
///
/// # Safety
/// The range must be mapped.
pub(crate) unsafe fn populate_write(start: NonNull<u8>, bytes: usize) -> Result<(), Errno> {
    // SAFETY: the range is mapped, and populating does not change its contents.
    unsafe { madvise(start.as_ptr().cast(), bytes, Advice::LinuxPopulateWrite) }
}

/// Maps `bytes` of zeroes that processes forked from this one share: a memfd named `name`.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn map_shared(name: &str, bytes: usize) -> Result<NonNull<u8>, Errno> {
    let file = shared_file(name, bytes)?;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address chosen by the kernel aliases nothing.
    let start = unsafe { mmap(std::ptr::null_mut(), bytes, access, MapFlags::SHARED, &file, 0) }?;
    NonNull::new(start.cast()).ok_or(Errno::NOMEM)
}

/// Creates a memfd of `bytes` zeroes, named `name`, which can be passed to another program.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn shared_file(name: &str, bytes: usize) -> Result<OwnedFd, Errno> {
    let file = memfd_create(name, MemfdFlags::CLOEXEC)?;
    ftruncate(&file, bytes as u64)?;
    Ok(file)
}

/// Checks that a memfd can be created.
///
/// # Errors
/// Returns what is missing.
pub(crate) fn shared_memory_available() -> Result<(), Unavailable> {
    memfd_create("ipcperf-probe", MemfdFlags::CLOEXEC).map(drop).map_err(|errno| Unavailable {
        reason: format!("memfd_create: {errno}"),
        remedy: "needs Linux 3.17 and a seccomp filter that allows memfd_create".to_owned(),
    })
}
