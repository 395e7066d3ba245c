//! Names in `/dev/shm`, where the C library keeps POSIX shared memory.

use std::ffi::CStr;

use super::RunNames;
use super::sweep::{own_names, remove_beginning_with};

/// The folder.
pub(crate) const SHARED_MEMORY: &CStr = c"/dev/shm";

/// The run's names there that are this user's.
pub(super) fn present(names: &RunNames) -> Vec<String> {
    own_names(SHARED_MEMORY, &names.base())
}

/// Removes names of this user's that begin with `prefix`; may be called in a signal handler.
pub(crate) fn remove_shared_memory(prefix: &str) {
    remove_beginning_with(SHARED_MEMORY, prefix);
}
