//! For tests of what takes privilege: a test once more, with less of it.

use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

pub(crate) const CAP_PERFMON: libc::c_ulong = 38;
const CAP_BPF: libc::c_ulong = 39;

/// What loading a BPF program takes.
pub(crate) const ENOUGH: &[libc::c_ulong] = &[CAP_PERFMON, CAP_BPF];

/// Runs one test of this binary in a process that has no more than these capabilities; `None` where this one
/// cannot give any away.
pub(crate) fn with_capabilities(kept: &'static [libc::c_ulong], test: &str) -> Option<Output> {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--nocapture"]).env("IPCPERF_FORBID_SKIPS", "1");
    // SAFETY: between fork and exec the child makes plain calls alone, and allocates nothing.
    unsafe {
        child.pre_exec(move || {
            for capability in (0..64).filter(|capability| !kept.contains(capability)) {
                // Numbers that are none are refused, and that is all the same.
                if libc::prctl(libc::PR_CAPBSET_DROP, capability) == -1 && capability <= CAP_BPF {
                    return Err(std::io::Error::last_os_error());
                }
            }
            Ok(())
        })
    };
    // SAFETY: a plain call.
    let is_root = unsafe { libc::geteuid() } == 0;
    is_root.then(|| child.output().ok()).flatten()
}
