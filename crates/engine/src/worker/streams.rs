//! The two streams between a worker and the command: standard input and output. While a user's library is loaded, the
//! worker uses duplicates at other numbers, since the library may read and print.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::stdio::{stdin, stdout};

use super::objects;

/// Lowest number of a duplicate: above the standard streams.
const MIN_DUPLICATE_FD: i32 = 3;

/// Duplicates of input and output, if made.
static SAVED: OnceLock<SavedStreams> = OnceLock::new();

#[derive(Debug)]
struct SavedStreams {
    input: OwnedFd,
    output: OwnedFd,
}

/// Makes the worker use duplicates from now on, whatever happens to descriptors 0 and 1. Forked peers inherit them;
/// executed programs do not.
///
/// # Errors
/// Returns `EMFILE` if the process cannot open more descriptors.
pub(crate) fn save() -> Result<(), Errno> {
    if SAVED.get().is_some() {
        return Ok(());
    }
    let duplicate = |stream: BorrowedFd<'_>| fcntl_dupfd_cloexec(stream, MIN_DUPLICATE_FD);
    let kept = SavedStreams { input: duplicate(stdin())?, output: duplicate(stdout())? };
    objects::exclude(&kept.input);
    objects::exclude(&kept.output);
    // Only one thread opens the mechanism, so no other can have set this meanwhile.
    let _ = SAVED.set(kept);
    Ok(())
}

/// Stream from the command: a socket, which may carry descriptors.
pub(super) fn input() -> BorrowedFd<'static> {
    SAVED.get().map_or(stdin(), |kept| kept.input.as_fd())
}

/// Stream to the command.
pub(crate) fn output() -> BorrowedFd<'static> {
    SAVED.get().map_or(stdout(), |kept| kept.output.as_fd())
}
