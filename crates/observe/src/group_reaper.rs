//! A helper process that kills its process group when this process exits for any reason.
//!
//! The kernel can kill a tool when its parent dies (`PR_SET_PDEATHSIG`), but not the children of that tool. If strace
//! is killed while it starts, it leaves behind a child that it uses to test ptrace, and that child waits forever.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

/// Leader of a process group. Dropping it kills the whole group.
#[derive(Debug)]
pub(crate) struct GroupReaper(Child);

impl GroupReaper {
    /// Starts a guard as the only process of a new group.
    pub(crate) fn start() -> io::Result<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "read line; kill -9 0"]).process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        shell.spawn().map(Self)
    }

    /// Returns the process group.
    pub(crate) fn group(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// Kills the group, including the guard. The guard has not been reaped yet, so the group ID cannot have been
    /// reused.
    ///
    /// # Errors
    /// `EPERM` if a seccomp filter forbids the call.
    pub(crate) fn kill(&mut self) -> Result<(), Errno> {
        kill_process_group(self.group(), Signal::KILL)
    }

    /// Closes our end of the guard's pipe, as the kernel does when this process exits.
    #[cfg(test)]
    pub(crate) fn close_stdin(&mut self) {
        drop(self.0.stdin.take());
    }
}

impl Drop for GroupReaper {
    fn drop(&mut self) {
        // If the kill is refused, the guard still exits: `wait` closes its standard input.
        let _ = self.kill();
        // Fails only if the guard is already gone.
        let _ = self.0.wait();
    }
}
