//! Names in the file system.

use std::mem::MaybeUninit;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, RawDir, mknodat};
use rustix::io::Errno;
use rustix::time::ClockId;

/// Flag of a descriptor that only refers to a file.
pub(crate) const REFERS_ONLY: OFlags = OFlags::PATH;

/// Clock from which the file system takes its times.
pub(crate) const FILE_CLOCK: ClockId = ClockId::RealtimeCoarse;

/// Lists `folder` into `listing`. Allocates nothing, so that a signal handler may do it.
pub(crate) fn list<'a, F: std::os::fd::AsFd>(
    folder: &'a F,
    listing: &'a mut [MaybeUninit<u8>],
) -> RawDir<'a, &'a F> {
    RawDir::new(folder, listing)
}

/// Makes the FIFO `path`, which only its owner may use.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn make_fifo(path: &Path) -> Result<(), Errno> {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
}
