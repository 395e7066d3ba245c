//! Names in the file system.

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Dir, DirEntry, OFlags};
use rustix::io::Errno;
use rustix::time::ClockId;

use crate::platform::errno_result;

/// Flag of a descriptor that only refers to a file: here it can also be read from.
pub(crate) const REFERS_ONLY: OFlags = OFlags::RDONLY;

/// Clock from which the file system takes its times.
pub(crate) const FILE_CLOCK: ClockId = ClockId::Realtime;

/// Names in a folder.
#[derive(Debug)]
pub(crate) struct Listing(Option<Dir>);

impl Listing {
    /// Returns the next name, or the reason why it cannot be read; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Result<DirEntry, Errno>> {
        self.0.as_mut()?.next()
    }
}

/// Lists `folder`. Allocates memory, unlike on Linux: no signal handler may do it.
pub(crate) fn list(folder: &impl AsFd, _: &mut [MaybeUninit<u8>]) -> Listing {
    Listing(Dir::read_from(folder).ok())
}

/// Makes the FIFO `path`, which only its owner may use.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn make_fifo(path: &Path) -> Result<(), Errno> {
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)?;
    // SAFETY: the path is NUL-terminated.
    errno_result(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }).map(drop)
}
