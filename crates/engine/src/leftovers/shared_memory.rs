//! Names in `/dev/shm`, in which the C library stores POSIX shared memory.

use std::ffi::CStr;

use super::RunNames;
use super::sweep::{own_names, remove_beginning_with};

/// Folder of POSIX shared memory.
pub(crate) const SHARED_MEMORY: &CStr = c"/dev/shm";

/// Names of the run in that folder that belong to this user.
pub(super) fn present(names: &RunNames) -> Vec<String> {
    own_names(SHARED_MEMORY, &names.base())
}

/// Removes the names of this user that begin with `prefix`; may be called in a signal handler.
pub(crate) fn remove_shared_memory(prefix: &str) {
    remove_beginning_with(SHARED_MEMORY, prefix);
}
