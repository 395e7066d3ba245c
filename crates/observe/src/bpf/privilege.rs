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
const INITIAL_PID_NAMESPACE: &str = "pid:[4026531836]";

/// Checks that this process may load programs, and that process IDs here are those that the programs see.
pub(super) fn check_privileges() -> Result<(), Unavailable> {
    if !has_bpf_capabilities(effective_capabilities()) {
        return Err(Unavailable {
            reason: "loading a BPF program requires CAP_BPF and CAP_PERFMON".to_owned(),
            remedy: BPF_AND_PERFMON.to_owned(),
        });
    }
    if is_in_container() {
        return Err(Unavailable {
            reason: "this container has its own process IDs, but the kernel's events contain those of the host"
                .to_owned(),
            remedy: "run ipcperf outside the container, or start the container with --pid=host"
                .to_owned(),
        });
    }
    Ok(())
}

/// Whether the capabilities are those of a user namespace, which do not permit BPF.
pub(super) fn is_in_user_namespace() -> bool {
    fs::read_to_string("/proc/self/uid_map")
        .is_ok_and(|map| !map.split_ascii_whitespace().eq(["0", "0", "4294967295"]))
}

fn is_in_container() -> bool {
    fs::read_link("/proc/self/ns/pid").is_ok_and(|link| link.as_os_str() != INITIAL_PID_NAMESPACE)
}

/// Returns the effective capabilities of the calling thread, one bit each.
fn effective_capabilities() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

/// Whether the capabilities suffice. `CAP_SYS_ADMIN` includes the other two, which Linux 5.8 split off from it.
fn has_bpf_capabilities(capabilities: u64) -> bool {
    let has = |capability: u32| capabilities >> capability & 1 == 1;
    has(CAP_SYS_ADMIN) || has(CAP_BPF) && has(CAP_PERFMON)
}

/// Raises the limit of locked memory as far as possible until the result is dropped. Before Linux 5.11 the memory of
/// maps and programs counts as locked memory, and the default limit is usually too low.
pub(super) fn raise_memlock_limit() -> Option<MemlockLimit> {
    let counted = KernelVersion::current().is_ok_and(|now| now < KernelVersion::new(5, 11, 0));
    if !counted {
        return None;
    }
    let before = getrlimit(Resource::Memlock);
    let unlimited = Rlimit { current: None, maximum: None };
    let hard_limit = Rlimit { current: before.maximum, maximum: before.maximum };
    // If neither is allowed, the kernel decides whether the current limit is sufficient.
    let _ = setrlimit(Resource::Memlock, unlimited)
        .or_else(|_| setrlimit(Resource::Memlock, hard_limit));
    Some(MemlockLimit { before })
}

/// A raised limit of locked memory, restored when dropped.
#[derive(Debug)]
pub(super) struct MemlockLimit {
    before: Rlimit,
}

impl Drop for MemlockLimit {
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
        assert!(has_bpf_capabilities(1 << CAP_BPF | 1 << CAP_PERFMON));
        assert!(has_bpf_capabilities(1 << CAP_SYS_ADMIN));
        assert!(!has_bpf_capabilities(1 << CAP_BPF));
        assert!(!has_bpf_capabilities(1 << CAP_PERFMON));
        assert!(!has_bpf_capabilities(0));
    }
}
