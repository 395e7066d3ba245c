//! Operating systems. Each has the same items; those of Linux are mostly the ones of `rustix`, so that the code that
//! uses them is compiled there as if it named rustix.
//!
//! | item | elsewhere |
//! |---|---|
//! | [`futex`] | a wait that polls: [`ipcperf_ring::portable_wait`] |
//! | [`affinity`] | FreeBSD pins threads too; macOS has no call for that ([`affinity::CAN_PIN`]) |
//! | [`close_on_exec`] | macOS sets the flag after the creation: a fork in between inherits the descriptor |
//! | [`memory`] | pages are made present by reading or writing them |
//! | [`parent_death`] | FreeBSD sends the signal too; on macOS a peer outlives its worker until it notices |
//! | [`subreaper`] | FreeBSD has one too; on macOS a process that leaves its group outlives its run |
//! | [`thread`] | the system's own names and identifiers |
//! | [`capabilities`] | there are none |
//! | [`message_queue`] | FreeBSD has POSIX message queues too; macOS has none |
//! | [`folder`], [`random`], [`socket_options`] | the system's own calls |

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
mod linux_or_freebsd;
#[cfg(not(target_os = "linux"))]
mod other;
pub(crate) mod read_write;

#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::*;

use std::io;

use ipcperf_model::Unavailable;
use rustix::io::Errno;

/// Reason why something that only these `systems` have is unavailable on this one.
pub(crate) fn needs(systems: &str) -> Unavailable {
    Unavailable {
        reason: format!("needs {systems}"),
        remedy: format!("run ipcperf on {systems}, or choose another mechanism: ipcperf list"),
    }
}

/// Converts the result of a C library call that returns -1 on error.
#[inline]
pub(crate) fn errno_result(answer: libc::c_int) -> Result<libc::c_int, Errno> {
    if answer != -1 {
        return Ok(answer);
    }
    Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO))
}
