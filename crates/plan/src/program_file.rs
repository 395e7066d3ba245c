//! Executable file of this program, opened once. Workers are started from the open file, so that an upgrade or a
//! build that replaces or deletes it does not stop a running series of measurements.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use ipcperf_engine::process::set_thread_name;

use crate::children;

/// Name (`argv[0]`) of the processes that the command starts from its own file.
const PROCESS_NAME: &str = "ipcperf";

/// Open file for the lifetime of the command; `None` if `/proc` is not mounted.
static FILE: OnceLock<Option<OwnedFd>> = OnceLock::new();

/// Opens the executable file. `O_PATH` needs no read permission.
pub fn open_once() {
    executable();
}

fn executable() -> Option<&'static OwnedFd> {
    FILE.get_or_init(open_executable).as_ref()
}

#[cfg(target_os = "linux")]
fn open_executable() -> Option<OwnedFd> {
    use rustix::fs::{Mode, OFlags, open};

    open("/proc/self/exe", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// Opens nothing: other systems cannot execute an open file. The path is used, and the file must stay.
#[cfg(not(target_os = "linux"))]
fn open_executable() -> Option<OwnedFd> {
    None
}

/// Builds a command that starts this program again, with `part` as its first argument.
///
/// # Errors
/// Returns an error if the executable file cannot be found because `/proc` is not mounted.
pub fn restart_command(part: &str) -> io::Result<Command> {
    let path = match executable() {
        Some(file) => PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())),
        None => std::env::current_exe()?,
    };
    let mut command = Command::new(path);
    command.arg0(PROCESS_NAME).arg(part);
    children::mark(&mut command);
    Ok(command)
}

/// Sets the process name that `ps` shows. Otherwise the kernel derives it from the path, `/proc/self/fd/N`.
pub fn set_process_name() {
    // Only a seccomp filter refuses the call; then the name remains a number.
    let _ = set_thread_name(c"ipcperf");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_started_again() {
        let mut command = restart_command("--list").unwrap();
        let listed = command.output().unwrap();
        assert!(listed.status.success(), "{listed:?}");
        assert!(String::from_utf8_lossy(&listed.stdout).contains("this_program_is_started_again"));
    }
}
