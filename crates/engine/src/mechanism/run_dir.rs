//! A private folder for names that come and go while a run is under way.
//!
//! The command removes it after the run, whatever became of the worker. Should the command itself be
//! killed, the worker is signalled and removes the folder before it dies, under the hands of parties
//! that still make names in it: once it is gone they can make no more.

use std::ffi::{CString, c_int};
use std::path::PathBuf;
use std::sync::OnceLock;

use ipcperf_model::{Failure, FailureKind};
use rustix::io::Errno;
use rustix::process::{Signal, set_parent_process_death_signal};

use super::refusal::refused;
use super::temp_dir::make_folder;
use crate::channel::{OptionSpec, OptionValues, Setup};
use crate::leftovers::{as_c, of_run, remove_own};

/// The option of mechanisms that keep the payload in files.
pub(super) const DIR: OptionSpec = OptionSpec {
    name: "dir",
    about: "the folder, and so the file system, that holds the files; default is TMPDIR, else /tmp",
    values: OptionValues::Folder,
    default: "default",
};

/// Where this run keeps names.
fn path(setup: &Setup<'_>) -> Result<PathBuf, Failure> {
    let names = of_run()?;
    match setup.option(DIR.name, DIR.default) {
        folder if folder == DIR.default => Ok(names.folder()),
        folder => {
            std::path::absolute(folder).map(|place| names.folder_in(&place)).map_err(|error| {
                let place = format!("finding the folder {folder}");
                Failure { errno: error.raw_os_error(), ..Failure::new(FailureKind::SetUp, place) }
            })
        }
    }
}

/// The two names in the folder, and the folder: as a signal handler needs them.
#[derive(Debug)]
pub(super) struct Lasting {
    pub(super) names: [CString; 2],
    folder: CString,
}

/// There is one run in a worker, and so one folder.
static LASTING: OnceLock<Lasting> = OnceLock::new();

/// Makes the folder of this worker, with `names` to be used in it.
pub(super) fn make(setup: &Setup<'_>, names: [&str; 2]) -> Result<&'static Lasting, Failure> {
    let path = path(setup)?;
    let text = |path: PathBuf| as_c(&path).ok_or_else(|| refused("a path", Errno::INVAL));
    let [one, other] = names.map(|name| text(path.join(name)));
    let lasting = Lasting { names: [one?, other?], folder: text(path.clone())? };
    let lasting = LASTING.get_or_init(|| lasting);
    // Before there is anything to remove: from here on the command's death is a signal to remove it.
    when_orphaned(remove_and_die)?;
    make_folder(&path)?;
    Ok(lasting)
}

/// Removes the folder, after the run.
pub(super) fn remove() {
    // Should a party still be at it, the command removes what is left.
    if let Some(lasting) = LASTING.get() {
        let _ = remove_own(&lasting.folder);
    }
}

/// Has the death of the command call `handler`, which removes what there is and ends this process. Forked
/// parties ask for a signal of their own.
pub(super) fn when_orphaned(handler: extern "C" fn(c_int)) -> Result<(), Failure> {
    // SAFETY: an all-zero sigaction is a valid one: no flags, nothing blocked.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as libc::sighandler_t;
    // After the handler the signal does what it always did: it ends the process.
    action.sa_flags = libc::SA_RESETHAND;
    // SAFETY: the handlers make only calls that are safe in one (see there); `action` is whole.
    if unsafe { libc::sigaction(libc::SIGTERM, &raw const action, std::ptr::null_mut()) } != 0 {
        return Err(refused("sigaction", Errno::INVAL));
    }
    set_parent_process_death_signal(Some(Signal::TERM)).map_err(|errno| refused("prctl", errno))
}

/// How often a folder in use is tried: a party has a name in it for a part of each message.
const TRIES: u32 = 100_000;

extern "C" fn remove_and_die(_: c_int) {
    if let Some(lasting) = LASTING.get() {
        for _ in 0..TRIES {
            // SAFETY: all three are calls that signal-safety(7) lists, on strings that live for
            // ever; `OnceLock::get` is one atomic load.
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
    // SAFETY: raise is safe in a handler; the signal, its default again, ends the process.
    unsafe { libc::raise(libc::SIGTERM) };
}
