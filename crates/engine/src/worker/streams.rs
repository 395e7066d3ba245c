//! The two streams between a worker and the command: its standard input and output. While a library of the user's is
//! loaded they are kept at numbers of their own, since its code may read and print.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::stdio::{stdin, stdout};

use super::objects;

/// Lowest number that a kept stream gets: above the standard streams.
const ABOVE_STANDARD: i32 = 3;

/// Duplicates of input and output, where they are kept.
static KEPT: OnceLock<Kept> = OnceLock::new();

#[derive(Debug)]
struct Kept {
    input: OwnedFd,
    output: OwnedFd,
}

/// From now on the worker talks through duplicates, whatever becomes of descriptors 0 and 1. Parties that are forked
/// inherit them, programs that are executed do not.
///
/// # Errors
/// `EMFILE` where no more descriptors are allowed.
pub(crate) fn keep() -> Result<(), Errno> {
    if KEPT.get().is_some() {
        return Ok(());
    }
    let duplicate = |stream: BorrowedFd<'_>| fcntl_dupfd_cloexec(stream, ABOVE_STANDARD);
    let kept = Kept { input: duplicate(stdin())?, output: duplicate(stdout())? };
    objects::leave_out(&kept.input);
    objects::leave_out(&kept.output);
    // One thread opens the mechanism: nobody else has kept them meanwhile.
    let _ = KEPT.set(kept);
    Ok(())
}

/// Where the command speaks: a socket, with which descriptors may come.
pub(super) fn input() -> BorrowedFd<'static> {
    KEPT.get().map_or(stdin(), |kept| kept.input.as_fd())
}

/// Where the command listens.
pub(crate) fn output() -> BorrowedFd<'static> {
    KEPT.get().map_or(stdout(), |kept| kept.output.as_fd())
}
