//! Free space in the file systems that the library writes to: its errors for a full one carry no system error
//! number.

use rustix::fs::statvfs;
use rustix::io::Errno;
use rustix::path::Arg;

use super::SHM_FOLDER;

/// Minimum free space in TMPDIR for the files that the library keeps, bytes.
const MIN_FREE_BYTES: u64 = 256 << 10;

/// Space in a file system.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileSystemSpace {
    pub(super) total_bytes: u64,
    pub(super) free_bytes: u64,
    /// Whether another file can be created.
    has_free_inodes: bool,
}

/// Returns the space in the file system that holds `folder`.
pub(super) fn query(folder: impl Arg) -> Option<FileSystemSpace> {
    let facts = statvfs(folder).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(facts.f_frsize);
    Some(FileSystemSpace {
        total_bytes: bytes(facts.f_blocks),
        free_bytes: bytes(facts.f_bavail),
        // Some file systems do not count inodes.
        has_free_inodes: facts.f_files == 0 || facts.f_favail > 0,
    })
}

/// Refines `errno`, the error for something that the library could not make: `ENOSPC` if a file system is
/// full.
pub(super) fn or_no_space(errno: Errno) -> Errno {
    let is_full =
        |space: FileSystemSpace| space.free_bytes < MIN_FREE_BYTES || !space.has_free_inodes;
    let spaces = [query(std::env::temp_dir()), query(SHM_FOLDER)];
    match errno {
        Errno::IO | Errno::NOMEM if spaces.into_iter().flatten().any(is_full) => Errno::NOSPC,
        _ => errno,
    }
}
