//! A process that ends its group when this one is gone, however that came.
//!
//! The kernel can kill a tool at its parent's death, but not what the tool has started: strace, killed while it
//! starts, leaves a child of its own, with which it tries what ptrace can do, and which waits for ever.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

/// The first of a process group. Dropped, it goes with all of them.
#[derive(Debug)]
pub(crate) struct Guard(Child);

impl Guard {
    /// Starts one, alone in its group.
    pub(crate) fn start() -> io::Result<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "read line; kill -9 0"]).process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        shell.spawn().map(Self)
    }

    /// The group.
    pub(crate) fn group(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// Kills the group, with the guard.
    ///
    /// # Errors
    /// `EPERM` where a filter of system calls refuses it. The guard is not reaped yet, so the number is still the
    /// group's.
    pub(crate) fn kill(&mut self) -> Result<(), Errno> {
        kill_process_group(self.group(), Signal::KILL)
    }

    /// Closes our end of its pipe, as the kernel does when we are gone.
    #[cfg(test)]
    pub(crate) fn leave(&mut self) {
        drop(self.0.stdin.take());
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Where it is refused, the guard ends by itself: waiting closes its input.
        let _ = self.kill();
        // It fails only for one that is gone.
        let _ = self.0.wait();
    }
}
