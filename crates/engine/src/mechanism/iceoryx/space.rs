//! Free space in the file systems that the library writes to: its errors for a full one carry no system error
//! number.

use rustix::fs::statvfs;
use rustix::io::Errno;
use rustix::path::Arg;

use super::SHARED_MEMORY;

/// Minimum free space in TMPDIR for the files that the library keeps, bytes.
const FILES_BYTES: u64 = 256 << 10;

/// Space in a file system.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    pub(super) all_bytes: u64,
    pub(super) free_bytes: u64,
    /// Whether another file can be created.
    has_names: bool,
}

/// Returns the space in the file system that holds `folder`.
pub(super) fn of(folder: impl Arg) -> Option<Space> {
    let facts = statvfs(folder).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(facts.f_frsize);
    Some(Space {
        all_bytes: bytes(facts.f_blocks),
        free_bytes: bytes(facts.f_bavail),
        // Some file systems do not count inodes.
        has_names: facts.f_files == 0 || facts.f_favail > 0,
    })
}

/// Refines `errno`, the error for something that the library could not make: `ENOSPC` if a file system is
/// full.
pub(super) fn or_no_space(errno: Errno) -> Errno {
    let is_full = |space: Space| space.free_bytes < FILES_BYTES || !space.has_names;
    let spaces = [of(std::env::temp_dir()), of(SHARED_MEMORY)];
    match errno {
        Errno::IO | Errno::NOMEM if spaces.into_iter().flatten().any(is_full) => Errno::NOSPC,
        _ => errno,
    }
}
