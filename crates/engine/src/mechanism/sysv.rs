//! System V objects: found by a key, and alive until they are removed.
//!
//! The kernel never removes them by itself, so three processes can: the peer that leaves first (the other
//! gets `EIDRM`), the command once the worker is gone, and the worker when the command dies. All know the
//! keys that the run tries.

use ipcperf_model::Unavailable;
use rustix::io::Errno;

use crate::leftovers::{installed, run_names, system_v};
use crate::parent_death::on_parent_death;
use crate::platform::errno_result;

/// Key under which nothing is created: whether it finds an object does not matter.
const PROBE_KEY: libc::key_t = 0x16C << 22;

/// Converts a return value like [`errno_result`], for a call on an object: `EPIPE` if the object has been removed.
#[inline]
pub(super) fn object_outcome(answer: libc::c_int) -> Result<libc::c_int, Errno> {
    errno_result(answer).map_err(|errno| match errno {
        Errno::IDRM | Errno::INVAL => Errno::PIPE,
        other => other,
    })
}

/// Creates an object of this run through `get`, which takes a key and flags. A key that is in use belongs to
/// another program; the next one is tried.
pub(super) fn create(
    get: impl Fn(libc::key_t, libc::c_int) -> libc::c_int,
) -> Result<libc::c_int, Errno> {
    let names =
        run_names().map_err(|failure| failure.errno.map_or(Errno::IO, Errno::from_raw_os_error))?;
    system_v::create(&names, get)
}

/// Makes the worker remove its objects before it ends when the command dies. The peers that it forks die with
/// it as usual.
pub(super) fn remove_on_parent_death() {
    on_parent_death(remove_and_die);
}

extern "C" fn remove_and_die(_: libc::c_int) {
    if let Some(names) = installed() {
        system_v::remove_all(names);
    }
    // SAFETY: `raise` is allowed in a handler. The signal has its default action again and ends the process.
    unsafe { libc::raise(libc::SIGTERM) };
}

/// Checks that `get`, called for an object that does not exist, reports just that.
pub(super) fn available(
    call: &str,
    get: impl Fn(libc::key_t) -> libc::c_int,
) -> Result<(), Unavailable> {
    match errno_result(get(PROBE_KEY)) {
        Ok(_) | Err(Errno::NOENT | Errno::ACCESS) => Ok(()),
        Err(errno) => Err(Unavailable {
            reason: format!("{call}: {errno}"),
            remedy: format!(
                "needs a kernel with CONFIG_SYSVIPC and a seccomp filter that allows {call}"
            ),
        }),
    }
}
