//! Memfds that hold messages, and the seals that guarantee which changes cannot happen to them.

use std::os::fd::OwnedFd;

use ipcperf_model::Failure;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::{Errno, write};

use super::mapping::{Access, Mapping};
use super::setup_failure::setup_failure;

fn create() -> Result<OwnedFd, Errno> {
    memfd_create("ipcperf-message", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
}

/// Creates a memfd of `bytes` bytes that cannot be truncated, so that no access to a mapping of it ends in
/// SIGBUS.
pub(super) fn create_fixed_size(bytes: usize) -> Result<OwnedFd, Errno> {
    let file = create()?;
    ftruncate(&file, bytes as u64)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW)?;
    Ok(file)
}

/// Creates a memfd that holds `bytes` permanently; adds its system calls to `calls`.
pub(super) fn create_sealed(bytes: &[u8], calls: &mut u64) -> Result<OwnedFd, Errno> {
    let file = create()?;
    *calls += 2;
    let mut rest = bytes;
    while !rest.is_empty() {
        *calls += 1;
        rest = &rest[write(&file, rest)?..];
    }
    let all = SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL;
    fcntl_add_seals(&file, all)?;
    Ok(file)
}

/// Creates `count` memfds of `bytes` bytes each, to be reused for successive messages.
pub(super) fn create_reusable(count: usize, bytes: usize) -> Result<Vec<MappedMemfd>, Failure> {
    (0..count).map(|_| MappedMemfd::new_reusable(bytes)).collect::<Result<_, _>>().map_err(
        |errno| {
            setup_failure("creating a memfd", errno)
                .with_remedy("free memory, or use smaller messages")
        },
    )
}

/// A memfd of fixed size that its sender writes through a mapping.
#[derive(Debug)]
pub(super) struct MappedMemfd {
    pub(super) file: OwnedFd,
    pub(super) mapping: Mapping,
}

impl MappedMemfd {
    pub(super) fn new(bytes: usize) -> Result<Self, Errno> {
        let file = create_fixed_size(bytes)?;
        let mapping = Mapping::new(&file, bytes, Access::Write)?;
        Ok(Self { file, mapping })
    }

    /// Creates a memfd that can be written through this mapping only.
    fn new_reusable(bytes: usize) -> Result<Self, Errno> {
        let filled = Self::new(bytes)?;
        match fcntl_add_seals(&filled.file, SealFlags::FUTURE_WRITE) {
            // Linux before 5.1 does not have this seal.
            Ok(()) | Err(Errno::INVAL) => Ok(filled),
            Err(errno) => Err(errno),
        }
    }

    /// Unmaps the memfd and seals it against any change.
    pub(super) fn into_sealed(self) -> Result<OwnedFd, Errno> {
        drop(self.mapping);
        fcntl_add_seals(&self.file, SealFlags::WRITE | SealFlags::SEAL)?;
        Ok(self.file)
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::fcntl_get_seals;

    use super::*;

    const SIZE: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

    #[test]
    fn whoever_receives_a_memfd_is_promised_what_its_documentation_says() {
        let for_good = SIZE | SealFlags::WRITE | SealFlags::SEAL;
        let seals = |file: &OwnedFd| fcntl_get_seals(file).unwrap();
        assert_eq!(seals(&create_fixed_size(10).unwrap()), SIZE);
        assert_eq!(seals(&create_sealed(&[7; 10], &mut 0).unwrap()), for_good);
        assert_eq!(seals(&MappedMemfd::new(10).unwrap().into_sealed().unwrap()), for_good);
    }

    #[test]
    fn a_lasting_memfd_is_written_to_through_its_mapping_alone() {
        let memfd = create_reusable(1, 10).unwrap().remove(0);
        memfd.mapping.copy_in(0, &[7; 10]);
        let seals = fcntl_get_seals(&memfd.file).unwrap();
        assert!(seals == SIZE | SealFlags::FUTURE_WRITE || is_without_that_seal(), "{seals:?}");
    }

    fn is_without_that_seal() -> bool {
        let file = create().unwrap();
        fcntl_add_seals(&file, SealFlags::FUTURE_WRITE) == Err(Errno::INVAL)
    }
}
