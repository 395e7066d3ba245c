//! Support for tests of privileges: runs a test again with fewer capabilities.

use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

pub(crate) const CAP_PERFMON: libc::c_ulong = 38;
const CAP_BPF: libc::c_ulong = 39;

/// Capabilities required to load a BPF program.
pub(crate) const BPF_CAPABILITIES: &[libc::c_ulong] = &[CAP_PERFMON, CAP_BPF];

/// Runs one test of this binary in a process limited to these capabilities; `None` if this process cannot drop any.
pub(crate) fn run_with_capabilities(
    capabilities: &'static [libc::c_ulong],
    test: &str,
) -> Option<Output> {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--nocapture"]).env("IPCPERF_FORBID_SKIPS", "1");
    // SAFETY: between fork and exec the child makes plain system calls only, and does not allocate.
    unsafe {
        child.pre_exec(move || {
            for capability in (0..64).filter(|capability| !capabilities.contains(capability)) {
                // The kernel refuses numbers above its last capability, which does not matter.
                if libc::prctl(libc::PR_CAPBSET_DROP, capability) == -1 && capability <= CAP_BPF {
                    return Err(std::io::Error::last_os_error());
                }
            }
            Ok(())
        })
    };
    // SAFETY: a plain system call.
    let is_root = unsafe { libc::geteuid() } == 0;
    is_root.then(|| child.output().ok()).flatten()
}
