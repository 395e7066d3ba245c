//! The file behind a ring's memory: it has a fixed length and no name.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{fstat, ftruncate};

/// Creates a memfd of fixed length. If it could be shortened, a side that accesses its mapping could be killed by
/// `SIGBUS`.
#[cfg(target_os = "linux")]
pub(crate) fn create(bytes: usize) -> io::Result<OwnedFd> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create("ipcperf-ring", flags)?;
    ftruncate(&file, bytes as u64)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

/// Checks that `file`, from another program, has `bytes` and keeps them.
#[cfg(target_os = "linux")]
pub(crate) fn check(file: &OwnedFd, bytes: usize) -> io::Result<()> {
    use rustix::fs::{SealFlags, fcntl_get_seals};
    use rustix::io::Errno;

    check_length(file, bytes)?;
    // A file that cannot be sealed has no seals to query.
    let seals = fcntl_get_seals(file).unwrap_or(SealFlags::empty());
    if seals.contains(SealFlags::SHRINK) { Ok(()) } else { Err(Errno::PERM.into()) }
}

/// Checks that `file`, from another program, has `bytes`.
#[cfg(not(target_os = "linux"))]
pub(crate) fn check(file: &OwnedFd, bytes: usize) -> io::Result<()> {
    check_length(file, bytes)
}

fn check_length(file: &OwnedFd, bytes: usize) -> io::Result<()> {
    let length = u64::try_from(fstat(file)?.st_size).ok();
    if length == Some(bytes as u64) { Ok(()) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Creates a POSIX shared memory object and removes its name at once. A process that has the descriptor can change its
/// length; the descriptor is closed as soon as the ring is mapped.
#[cfg(not(target_os = "linux"))]
pub(crate) fn create(bytes: usize) -> io::Result<OwnedFd> {
    use std::sync::atomic::{AtomicU32, Ordering};

    use rustix::fs::Mode;
    use rustix::io::Errno;
    use rustix::shm::{self, OFlags};

    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // macOS allows 31 bytes.
        let name = format!("/ipcperf-{}-{number}", std::process::id());
        match shm::open(&name, flags, Mode::RUSR | Mode::WUSR) {
            Err(Errno::EXIST) => {}
            opened => {
                let file = opened?;
                shm::unlink(&name)?;
                ftruncate(&file, bytes as u64)?;
                return Ok(file);
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn the_file_keeps_its_length() {
        let file = create(8192).unwrap();
        for bytes in [0, 4096, 16384] {
            assert_eq!(ftruncate(&file, bytes), Err(Errno::PERM));
        }
    }
}
