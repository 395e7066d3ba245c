//! The file of this program, opened once: workers are started from it also after it was replaced or deleted, as by
//! an upgrade or a build in the middle of a campaign.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use rustix::fs::{Mode, OFlags, open};

use crate::children;

/// What the command calls itself where it starts itself, whatever it was called by.
const OWN_NAME: &str = env!("CARGO_PKG_NAME");

/// Open for the life of the command; `None` where there is no `/proc`.
static FILE: OnceLock<Option<OwnedFd>> = OnceLock::new();

/// Opens it, before anybody can replace it. It is not for reading: a file that may only be executed is enough.
pub(crate) fn hold() {
    held();
}

fn held() -> Option<&'static OwnedFd> {
    let opened = || open("/proc/self/exe", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok();
    FILE.get_or_init(opened).as_ref()
}

/// Starts this program once more, with `part` as its first argument.
///
/// # Errors
/// That nothing says which file it is.
pub(crate) fn again(part: &str) -> io::Result<Command> {
    let path = match held() {
        Some(file) => PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())),
        None => std::env::current_exe()?,
    };
    let mut command = Command::new(path);
    command.arg0(OWN_NAME).arg(part);
    children::mark(&mut command);
    Ok(command)
}

/// Gives the calling process the name that lists of processes show: the kernel has taken it from a descriptor's number.
pub(crate) fn take_name() {
    // Refused by filters of system calls only; then the number stays.
    let _ = rustix::thread::set_name(c"ipcperf");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_started_again() {
        let mut command = again("--list").unwrap();
        let listed = command.output().unwrap();
        assert!(listed.status.success(), "{listed:?}");
        assert!(String::from_utf8_lossy(&listed.stdout).contains("this_program_is_started_again"));
    }
}
