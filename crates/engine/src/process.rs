//! Calls about processes and threads that are not the same on every system.

use std::ffi::CStr;

use rustix::io::Errno;
use rustix::process::Signal;

use crate::platform::{parent_death, subreaper, thread};

/// Identifier of the calling thread, as the system's tools show it.
#[must_use]
pub fn thread_id() -> u32 {
    thread::id()
}

/// Names the calling thread; `ps` shows the name of a process's first thread.
///
/// # Errors
/// Returns the system's error.
pub fn set_thread_name(name: &CStr) -> Result<(), Errno> {
    thread::set_name(name)
}

/// Makes the death of the parent send `signal` to this process.
///
/// # Errors
/// Returns `EINVAL` for an invalid signal number, and `ENOSYS` where the system has no such signal.
pub fn set_parent_death_signal(signal: Signal) -> Result<(), Errno> {
    parent_death::set_parent_process_death_signal(Some(signal))
}

/// Makes this process the parent of its descendants whose own parent has died.
///
/// # Errors
/// Returns the system's error; `ENOSYS` where orphans always become children of the first process.
pub fn adopt_orphans() -> Result<(), Errno> {
    subreaper::acquire()
}
