//! Removal of a folder that lasts as long as a run, at the death of the command.
//!
//! Only on Linux can a signal handler list a folder without allocating memory.

use std::ffi::{CString, c_int};
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::OnceLock;

use rustix::process::{Signal, getppid};

use crate::leftovers::{remove_owned_folder, to_cstring};
use crate::platform::parent_death::set_parent_process_death_signal;

/// Number of attempts to remove a folder in which peers may still create names.
const MAX_ATTEMPTS: u32 = 1000;

/// Folder that [`remove_and_exit`] removes. A worker carries out one run, so there is only one.
static FOLDER: OnceLock<CString> = OnceLock::new();

/// Makes the death of the command remove `folder` and end this process.
pub(super) fn remove_on_parent_death(folder: &Path) {
    let Some(folder) = to_cstring(folder) else { return };
    FOLDER.get_or_init(|| folder);
    let parent = getppid();
    // SAFETY: the handler only makes system calls and does not return.
    unsafe {
        let handler: extern "C" fn(c_int) = remove_and_exit;
        libc::signal(libc::SIGTERM, handler as libc::sighandler_t);
    }
    unblock_termination();
    // Fails only for an invalid signal number.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    if getppid() != parent {
        remove_and_exit(libc::SIGTERM);
    }
}

/// Unblocks the signal, which whoever started the command may have blocked.
fn unblock_termination() {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initializes the set, the signal exists, and a null pointer declines the previous mask.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGTERM);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), null_mut());
    }
}

extern "C" fn remove_and_exit(_: c_int) {
    if let Some(folder) = FOLDER.get() {
        // Peers end only after this process; one may still create a name.
        for _ in 0..MAX_ATTEMPTS {
            if remove_owned_folder(folder).is_ok() {
                break;
            }
        }
    }
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(1) }
}
