//! User and confinement of this process: privileges, filters, security modules, containers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Privileges, filters, security modules and containers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Confinement {
    /// Effective user id; 0 is root.
    pub user_id: Option<u64>,
    /// Effective capabilities, as a hexadecimal mask.
    pub capabilities: Option<String>,
    /// Whether the `no_new_privs` flag keeps this process from gaining privileges.
    pub no_new_privileges: Option<bool>,
    /// Mode of the system call filter (seccomp): `off`, `strict` or `filter`.
    pub seccomp: Option<String>,
    /// Number of seccomp filters that check each system call.
    pub seccomp_filters: Option<u64>,
    /// Active security modules of the kernel.
    pub security_modules: Option<String>,
    /// Label that a security module, such as SELinux or AppArmor, has given to this process.
    pub security_label: Option<String>,
    /// Container in which this process runs, as far as it can be detected: `docker`, `podman`, `kubernetes`, ..., or
    /// `none`.
    pub container: Option<String>,
    /// Namespace types (ipc, pid, user, cgroup) for which this process is not in the initial namespace.
    pub own_namespaces: Option<Vec<String>>,
    /// Restriction of performance events (`perf_event_open`) for users other than root: -1 no restriction, 0 no raw
    /// tracepoints, 1 also no events of whole CPUs, 2 also no events in the kernel, 3 and 4 (some distributions) no
    /// events at all.
    pub perf_event_paranoid: Option<i64>,
    /// Restriction of BPF for users other than root: 0 no restriction, 1 and 2 no loading of BPF programs.
    pub unprivileged_bpf_disabled: Option<u64>,
    /// Restriction of ptrace: 0 all processes of the same user can be traced, 1 only child processes can be traced, 2 only
    /// root can trace, 3 tracing is off.
    pub ptrace_scope: Option<u64>,
    /// Users who can see kernel addresses: 0 all users, 1 users with CAP_SYSLOG, 2 no users.
    pub kptr_restrict: Option<u64>,
    /// Address space randomization: 0 off, 1 without the heap, 2 full.
    pub randomize_va_space: Option<u64>,
    /// Users who may use `io_uring`: 0 all users, 1 users with CAP_SYS_ADMIN and members of the
    /// group in `kernel.io_uring_group`, 2 no users.
    pub io_uring_disabled: Option<u64>,
}

impl Confinement {
    /// Whether the capability with this number (`capabilities(7)`, `linux/capability.h`) is in effect.
    pub fn has_capability(&self, number: u32) -> Option<bool> {
        let mask = u64::from_str_radix(self.capabilities.as_deref()?, 16).ok()?;
        Some(mask >> number & 1 == 1)
    }
}
