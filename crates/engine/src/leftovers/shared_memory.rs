//! Names in `/dev/shm`, in which the C library stores POSIX shared memory.

use std::ffi::CStr;

use super::RunNames;
use super::sweep::owned_names;

/// Folder of POSIX shared memory.
pub(crate) const SHM_FOLDER: &CStr = c"/dev/shm";

/// Names of the run in that folder that belong to this user.
pub(super) fn existing(names: &RunNames) -> Vec<String> {
    owned_names(SHM_FOLDER, &names.prefix())
}

/// Removes the names of this user that begin with `prefix`; may be called in a signal handler.
#[cfg(target_os = "linux")]
pub(crate) fn remove_shared_memory(prefix: &str) {
    super::sweep::remove_with_prefix(SHM_FOLDER, prefix);
}
