//! A private folder for names that are created and removed during a run.
//!
//! The command removes it after the run, even if the worker failed. If the command itself is killed, the
//! worker gets a signal and removes the folder before it dies, while peers may still create names in it: once
//! the folder is gone, they cannot create more.

use std::ffi::{CString, c_int};
use std::path::PathBuf;
use std::sync::OnceLock;

use ipcperf_model::{Failure, FailureKind};
use rustix::io::Errno;

use super::setup_failure::setup_failure;
use super::shared_options::DIR;
use crate::channel::Setup;
use crate::leftovers::{remove_owned_folder, run_names, to_cstring};
use crate::parent_death::on_parent_death;
use crate::temp_dir::make_folder;

/// Returns the path of this run's folder.
fn path(setup: &Setup<'_>) -> Result<PathBuf, Failure> {
    let names = run_names()?;
    match setup.option(&DIR) {
        folder if folder == DIR.default => Ok(names.folder()),
        folder => {
            std::path::absolute(folder).map(|place| names.folder_in(&place)).map_err(|error| {
                let place = format!("finding the folder {folder}");
                Failure { errno: error.raw_os_error(), ..Failure::new(FailureKind::SetUp, place) }
            })
        }
    }
}

/// The two names in the folder, and the folder, as C strings for a signal handler.
#[derive(Debug)]
pub(super) struct RunDir {
    pub(super) names: [CString; 2],
    folder: CString,
}

/// The folder of the run. A worker executes one run, so there is only one.
static RUN_DIR: OnceLock<RunDir> = OnceLock::new();

/// Makes the folder of this worker, in which `names` will be used.
pub(super) fn create(setup: &Setup<'_>, names: [&str; 2]) -> Result<&'static RunDir, Failure> {
    let path = path(setup)?;
    let text =
        |path: PathBuf| to_cstring(&path).ok_or_else(|| setup_failure("a path", Errno::INVAL));
    let [one, other] = names.map(|name| text(path.join(name)));
    let lasting = RunDir { names: [one?, other?], folder: text(path.clone())? };
    let lasting = RUN_DIR.get_or_init(|| lasting);
    // Must come before there is anything to remove: from here on, the death of the command triggers the
    // removal.
    on_parent_death(remove_and_die);
    make_folder(&path)?;
    Ok(lasting)
}

/// Removes the folder after the run.
pub(super) fn remove() {
    // If a peer still uses the folder, the command removes what is left.
    if let Some(lasting) = RUN_DIR.get() {
        let _ = remove_owned_folder(&lasting.folder);
    }
}

/// Number of attempts to remove a folder in use: a peer has a name in it for a part of each message.
const MAX_ATTEMPTS: u32 = 100_000;

extern "C" fn remove_and_die(_: c_int) {
    if let Some(lasting) = RUN_DIR.get() {
        for _ in 0..MAX_ATTEMPTS {
            // SAFETY: signal-safety(7) lists all three calls, and the strings live forever; `OnceLock::get`
            // is one atomic load.
            let gone = unsafe {
                libc::unlink(lasting.names[0].as_ptr());
                libc::unlink(lasting.names[1].as_ptr());
                libc::rmdir(lasting.folder.as_ptr()) == 0
                    || *libc::__errno_location() == libc::ENOENT
            };
            if gone {
                break;
            }
        }
    }
    // SAFETY: `raise` is allowed in a handler. The signal has its default action again and ends the process.
    unsafe { libc::raise(libc::SIGTERM) };
}
