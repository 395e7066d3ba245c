//! Waiting with `select`, as only mechanisms that need Linux do.

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::event::{FdSetElement, fd_set_insert, fd_set_num_elements, select};
use rustix::io::Errno;

/// Size of the set for `select`, in elements of 64 descriptors each: room for descriptors up to 1023. A
/// worker has only a few.
const FD_SET_ELEMENTS: usize = 16;

fn set_of(descriptor: BorrowedFd<'_>) -> Result<[FdSetElement; FD_SET_ELEMENTS], Errno> {
    let mut set = [FdSetElement::default(); FD_SET_ELEMENTS];
    let number = descriptor.as_raw_fd();
    if fd_set_num_elements(1, number + 1) > FD_SET_ELEMENTS {
        return Err(Errno::MFILE);
    }
    fd_set_insert(&mut set, number);
    Ok(set)
}

/// Sleeps until there is data to read or the other side is gone.
#[inline]
pub(super) fn wait_readable(descriptor: BorrowedFd<'_>) -> Result<(), Errno> {
    let mut set = set_of(descriptor)?;
    // SAFETY: the only descriptor in the set is borrowed, so it is open, and `set` has room for all
    // numbers below the given one.
    unsafe { select(descriptor.as_raw_fd() + 1, Some(&mut set), None, None, None) }.map(drop)
}

/// Sleeps until there is room to write or the other side is gone.
#[inline]
pub(super) fn wait_writable(descriptor: BorrowedFd<'_>) -> Result<(), Errno> {
    let mut set = set_of(descriptor)?;
    // SAFETY: as for `wait_readable`.
    unsafe { select(descriptor.as_raw_fd() + 1, None, Some(&mut set), None, None) }.map(drop)
}
