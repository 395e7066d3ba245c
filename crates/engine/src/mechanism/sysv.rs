//! System V objects: found by a key, alive until they are removed.
//!
//! The kernel never removes them by itself, so three can do it: the end that leaves first (the
//! other is told by `EIDRM`), the command once the worker is gone, and the worker when the command
//! dies. All know the key: it is made of the worker's process number.

use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};

use super::Unavailable;

/// The upper bits of our keys; the lower 22 are the process number, of which Linux has no more.
const OURS: i32 = 0x16C << 22;

/// What a call of the C library that answers -1 on error came to.
#[inline]
pub(super) fn outcome(answer: libc::c_int) -> Result<libc::c_int, Errno> {
    if answer != -1 {
        return Ok(answer);
    }
    Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO))
}

/// As [`outcome`], for one that belongs to an object: `EPIPE` where that has been removed.
#[inline]
pub(super) fn outcome_of_object(answer: libc::c_int) -> Result<libc::c_int, Errno> {
    outcome(answer).map_err(|errno| match errno {
        Errno::IDRM | Errno::INVAL => Errno::PIPE,
        other => other,
    })
}

/// The key of what `worker` makes.
fn key(worker: i32) -> libc::key_t {
    OURS | (worker & 0x3F_FFFF)
}

/// Makes an object of this process through `get`, which is given a key and flags. One that a
/// process of the same number left is removed first.
pub(super) fn make(
    get: impl Fn(libc::key_t, libc::c_int) -> libc::c_int,
) -> Result<libc::c_int, Errno> {
    let own = getpid().as_raw_nonzero().get();
    let flags = libc::IPC_CREAT | libc::IPC_EXCL | 0o600;
    match outcome(get(key(own), flags)) {
        Err(Errno::EXIST) => {
            remove_sysv(own);
            outcome(get(key(own), flags))
        }
        made => made,
    }
}

/// Finds, through `get`, the object of this process.
pub(super) fn find(get: impl Fn(libc::key_t) -> libc::c_int) -> Result<libc::c_int, Errno> {
    outcome(get(key(getpid().as_raw_nonzero().get())))
}

/// Removes every System V object that `worker` made.
pub(super) fn remove_sysv(worker: i32) {
    let key = key(worker);
    // What does not exist gets -1 for its number, which these calls refuse.
    // SAFETY: they take numbers alone; the pointer for a queue's facts may be null when it is removed.
    unsafe {
        libc::msgctl(libc::msgget(key, 0), libc::IPC_RMID, std::ptr::null_mut());
        libc::semctl(libc::semget(key, 0, 0), 0, libc::IPC_RMID);
        libc::shmctl(libc::shmget(key, 0, 0), libc::IPC_RMID, std::ptr::null_mut());
    }
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
    remove_sysv(Pid::as_raw(Some(getpid())));
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(1) }
}

/// Whether `get`, asked for an object that is not there, says just that.
pub(super) fn available(
    call: &str,
    get: impl Fn(libc::key_t) -> libc::c_int,
) -> Result<(), Unavailable> {
    match outcome(get(key(0))) {
        Ok(_) | Err(Errno::NOENT | Errno::ACCESS) => Ok(()),
        Err(errno) => Err(Unavailable {
            reason: format!("{call}: {errno}"),
            remedy: format!(
                "needs a kernel with CONFIG_SYSVIPC and a seccomp filter that lets {call} through"
            ),
        }),
    }
}

/// A number below `/proc/sys`, or what it usually is.
pub(super) fn setting(name: &str, usually: u64) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/sys/{name}"));
    text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(usually)
}
