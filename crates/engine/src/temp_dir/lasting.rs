//! Removal of a folder that lasts as long as a run, at the death of the command.
//!
//! Only on Linux can a signal handler list a folder without allocating memory.

use std::ffi::{CString, c_int};
use std::path::Path;
use std::sync::OnceLock;

use crate::leftovers::{remove_owned_folder, to_cstring};
use crate::parent_death::on_parent_death;

/// Number of attempts to remove a folder in which peers may still create names.
const MAX_ATTEMPTS: u32 = 1000;

/// Folder that [`remove_and_die`] removes. A worker carries out one run, so there is only one.
static FOLDER: OnceLock<CString> = OnceLock::new();

/// Makes the death of the command remove `folder` and end this process.
pub(super) fn remove_on_parent_death(folder: &Path) {
    if let Some(folder) = to_cstring(folder) {
        FOLDER.get_or_init(|| folder);
        on_parent_death(remove_and_die);
    }
}

extern "C" fn remove_and_die(_: c_int) {
    if let Some(folder) = FOLDER.get() {
        // Peers end only after this process; one may still create a name.
        for _ in 0..MAX_ATTEMPTS {
            if remove_owned_folder(folder).is_ok() {
                break;
            }
        }
    }
    // SAFETY: `raise` is allowed in a handler. The signal has its default action again and ends the process.
    unsafe { libc::raise(libc::SIGTERM) };
}
