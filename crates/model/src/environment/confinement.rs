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
    /// System call filter: `off`, `strict`, `filter`.
    pub seccomp: Option<String>,
    /// Number of seccomp filters that each system call passes.
    pub seccomp_filters: Option<u64>,
    /// Active security modules of the kernel.
    pub security_modules: Option<String>,
    /// Label that a security module gives this process.
    pub security_label: Option<String>,
    /// Container that this process runs in, as far as it can be detected: `docker`, `podman`, `kubernetes`, ..., or
    /// `none`.
    pub container: Option<String>,
    /// Namespaces of this process that differ from those of the system, among ipc, pid, user and cgroup.
    pub own_namespaces: Option<Vec<String>>,
    /// Restriction of performance events: -1 none, 2 only user-space events of own processes, 3 and 4 root only.
    pub perf_event_paranoid: Option<i64>,
    /// Restriction of unprivileged BPF: 0 any user may load programs.
    pub unprivileged_bpf_disabled: Option<u64>,
    /// Restriction of ptrace: 0 own processes, 1 child processes, 2 root only, 3 disabled.
    pub ptrace_scope: Option<u64>,
    /// Visibility of kernel addresses: 0 all users, 1 root, 2 nobody.
    pub kptr_restrict: Option<u64>,
    /// Address space randomization: 0 off, 2 full.
    pub randomize_va_space: Option<u64>,
    /// Restriction of `io_uring`: 0 all users, 1 root and one group, 2 disabled.
    pub io_uring_disabled: Option<u64>,
}

impl Confinement {
    /// Whether the capability with this number (`capabilities(7)`, `linux/capability.h`) is in effect.
    pub fn has_capability(&self, number: u32) -> Option<bool> {
        let mask = u64::from_str_radix(self.capabilities.as_deref()?, 16).ok()?;
        Some(mask >> number & 1 == 1)
    }
}
