//! System V objects: found by a key, alive until they are removed.
//!
//! The kernel never removes them by itself, so three can do it: the end that leaves first (the
//! other is told by `EIDRM`), the command once the worker is gone, and the worker when the command
//! dies. All know the keys that the run tries.

use ipcperf_model::Unavailable;
use rustix::io::Errno;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use crate::leftovers::{installed, of_run, system_v};

pub(super) use crate::leftovers::system_v::outcome;

/// A key under which nothing is made: whether it finds an object does not matter.
const PROBE: libc::key_t = 0x16C << 22;

/// As [`outcome`], for one that belongs to an object: `EPIPE` where that has been removed.
#[inline]
pub(super) fn outcome_of_object(answer: libc::c_int) -> Result<libc::c_int, Errno> {
    outcome(answer).map_err(|errno| match errno {
        Errno::IDRM | Errno::INVAL => Errno::PIPE,
        other => other,
    })
}

/// Makes an object of this run through `get`, which takes a key and flags. A key that is taken belongs to
/// somebody else; the next one is tried.
pub(super) fn make(
    get: impl Fn(libc::key_t, libc::c_int) -> libc::c_int,
) -> Result<libc::c_int, Errno> {
    let names =
        of_run().map_err(|failure| failure.errno.map_or(Errno::IO, Errno::from_raw_os_error))?;
    system_v::make(&names, get)
}

/// From now on the death of the command has the worker remove its objects before it ends. The
/// parties that it forks die with it as ever.
pub(super) fn remove_when_the_command_dies() {
    let parent = getppid();
    // SAFETY: the handler makes system calls alone, and does not return.
    unsafe {
        let handler: extern "C" fn(libc::c_int) = remove_and_exit;
        libc::signal(libc::SIGTERM, handler as libc::sighandler_t);
    }
    // Refused only for a number that is no signal.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    if getppid() != parent {
        remove_and_exit(libc::SIGTERM);
    }
}

extern "C" fn remove_and_exit(_: libc::c_int) {
    if let Some(names) = installed() {
        system_v::remove_all(names);
    }
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(1) }
}

/// Whether `get`, asked for an object that is not there, says just that.
pub(super) fn available(
    call: &str,
    get: impl Fn(libc::key_t) -> libc::c_int,
) -> Result<(), Unavailable> {
    match outcome(get(PROBE)) {
        Ok(_) | Err(Errno::NOENT | Errno::ACCESS) => Ok(()),
        Err(errno) => Err(Unavailable {
            reason: format!("{call}: {errno}"),
            remedy: format!(
                "needs a kernel with CONFIG_SYSVIPC and a seccomp filter that lets {call} through"
            ),
        }),
    }
}
