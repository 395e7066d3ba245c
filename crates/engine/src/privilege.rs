//! Drops the capabilities that the program's file grants (`setcap`). They are meant for the command's instruments, and
//! are dropped before third-party code runs in one of our processes.
//!
//! Every user who may execute such a file chooses what a worker loads (`lib:FILE`), so the worker must not keep what
//! the file grants. A capability in the ambient set was granted to this run (`setpriv --ambient-caps`); the kernel
//! never adds a file's capabilities to that set
//! ([capabilities(7)](https://man7.org/linux/man-pages/man7/capabilities.7.html)). Root keeps everything.
//! `no_new_privs` is not set: code that executes the file again gains nothing that its user could not gain anyway.

use std::fs;

use ipcperf_model::{Failure, FailureKind};
use rustix::process::{getegid, geteuid, getgid, getuid};

use crate::platform::capabilities;

/// Command that removes the grant from a file.
const REMEDY: &str = "remove them from the file: sudo setcap -r $(command -v ipcperf)";

/// Proof that the calling process holds no capability granted by its program's file.
#[derive(Clone, Copy, Debug)]
pub struct Unprivileged(());

impl Unprivileged {
    /// Drops the capabilities that the program's file granted, and verifies that they are gone. Call it while the
    /// process has one thread: capabilities are per thread.
    ///
    /// # Errors
    /// Returns [`FailureKind::SetUp`] if the system keeps them, or if the process runs as another user than the one who
    /// started it.
    pub fn new() -> Result<Self, Failure> {
        if is_set_user_id() {
            return Err(refused(
                "this process runs as a different user than the one who started it",
            ));
        }
        capabilities::drop_granted().map_err(|errno| Failure {
            errno: Some(errno.raw_os_error()),
            ..refused("dropping the capabilities that the program's file grants")
        })?;
        Ok(Self(()))
    }
}

fn refused(place: &str) -> Failure {
    Failure::new(FailureKind::SetUp, place).with_remedy(REMEDY)
}

/// Whether the program's file is set-user-ID or set-group-ID and changed the effective user or group.
#[must_use]
pub fn is_set_user_id() -> bool {
    getuid() != geteuid() || getgid() != getegid()
}

/// Whether the program's file granted this process a capability that its user does not have.
#[must_use]
pub fn is_granted_by_file() -> bool {
    capabilities::are_granted()
}

/// Whether the process `pid` runs entirely as the user who started this one. File capabilities must not be used on the
/// processes of other users.
#[must_use]
pub fn is_owned_by_this_user(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
    let mut users = users.split_ascii_whitespace().peekable();
    users.peek().is_some() && users.all(|user| user.parse() == Ok(getuid().as_raw()))
}

#[cfg(test)]
mod tests {
    use rustix::thread::capabilities;

    use super::*;

    /// In an ordinary test environment there is nothing to drop, and nothing is dropped.
    #[test]
    fn what_no_file_granted_is_kept() {
        let before = capabilities(None).unwrap();
        Unprivileged::new().unwrap();
        let after = capabilities(None).unwrap();
        assert!(!is_granted_by_file());
        assert_eq!(before.permitted, after.permitted);
    }

    #[test]
    fn a_process_of_another_user_is_recognized() {
        assert!(is_owned_by_this_user(std::process::id()));
        assert!(!is_owned_by_this_user(u32::MAX), "there is none");
    }
}
