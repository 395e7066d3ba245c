//! Checks privileges before programs are loaded, because the kernel's own errors do not name what is missing.

use std::fs;

use aya::util::KernelVersion;
use ipcperf_model::Unavailable;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::grant::BPF_AND_PERFMON;

const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// Target of `/proc/PID/ns/pid` for processes outside any container: the inode number is part of the kernel's
/// interface.
const INITIAL_PIDS: &str = "pid:[4026531836]";

/// Checks that this process may load programs, and that process IDs here are those that the programs see.
pub(super) fn require() -> Result<(), Unavailable> {
    if !suffice(effective()) {
        return Err(Unavailable {
            reason: "loading a BPF program takes CAP_BPF and CAP_PERFMON".to_owned(),
            remedy: BPF_AND_PERFMON.to_owned(),
        });
    }
    if in_container() {
        return Err(Unavailable {
            reason: "in this container processes have numbers that the kernel's events do not tell"
                .to_owned(),
            remedy: "run outside, or give the container the host's process numbers: --pid=host"
                .to_owned(),
        });
    }
    Ok(())
}

/// Whether the capabilities are those of a user namespace, which do not permit BPF.
pub(super) fn in_user_namespace() -> bool {
    fs::read_to_string("/proc/self/uid_map")
        .is_ok_and(|map| !map.split_ascii_whitespace().eq(["0", "0", "4294967295"]))
}

fn in_container() -> bool {
    fs::read_link("/proc/self/ns/pid").is_ok_and(|link| link.as_os_str() != INITIAL_PIDS)
}

/// Returns the effective capabilities of the calling thread, one bit each.
fn effective() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

/// Whether the capabilities suffice. `CAP_SYS_ADMIN` includes the other two, which Linux 5.8 split off from it.
fn suffice(capabilities: u64) -> bool {
    let has = |capability: u32| capabilities >> capability & 1 == 1;
    has(CAP_SYS_ADMIN) || has(CAP_BPF) && has(CAP_PERFMON)
}

/// Raises the limit of locked memory as far as possible until the result is dropped. Before Linux 5.11 the memory of
/// maps and programs counts as locked memory, and the default limit is usually too low.
pub(super) fn lock_memory() -> Option<LockedMemory> {
    let counted = KernelVersion::current().is_ok_and(|now| now < KernelVersion::new(5, 11, 0));
    if !counted {
        return None;
    }
    let before = getrlimit(Resource::Memlock);
    let unlimited = Rlimit { current: None, maximum: None };
    let most = Rlimit { current: before.maximum, maximum: before.maximum };
    // If neither is allowed, the kernel decides whether the current limit is sufficient.
    let _ = setrlimit(Resource::Memlock, unlimited).or_else(|_| setrlimit(Resource::Memlock, most));
    Some(LockedMemory { before })
}

/// A raised limit of locked memory, restored when dropped.
#[derive(Debug)]
pub(super) struct LockedMemory {
    before: Rlimit,
}

impl Drop for LockedMemory {
    fn drop(&mut self) {
        // Lowering the limit is always allowed.
        let _ = setrlimit(Resource::Memlock, self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_the_two_is_not_enough() {
        assert!(suffice(1 << CAP_BPF | 1 << CAP_PERFMON));
        assert!(suffice(1 << CAP_SYS_ADMIN));
        assert!(!suffice(1 << CAP_BPF));
        assert!(!suffice(1 << CAP_PERFMON));
        assert!(!suffice(0));
    }
}
