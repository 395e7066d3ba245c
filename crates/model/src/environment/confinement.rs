//! Who this process is, and what is kept from it: privileges, filters, security modules,
//! containers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Privileges, filters, security modules, containers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Confinement {
    /// The user, as a number; 0 is root.
    pub user_id: Option<u64>,
    /// Capabilities in effect, as a hexadecimal mask.
    pub capabilities: Option<String>,
    /// Whether this process can gain no privileges.
    pub no_new_privileges: Option<bool>,
    /// Filter of system calls: `off`, `strict`, `filter`.
    pub seccomp: Option<String>,
    /// How many filters each system call passes.
    pub seccomp_filters: Option<u64>,
    /// Security modules of the kernel.
    pub security_modules: Option<String>,
    /// What a security module calls this process.
    pub security_label: Option<String>,
    /// The container this is, as far as it shows: `docker`, `podman`, `kubernetes`, ..., or
    /// `none`.
    pub container: Option<String>,
    /// Namespaces of its own this process is in, of ipc, pid, user and cgroup.
    pub own_namespaces: Option<Vec<String>>,
    /// Who may count and sample: -1 all, 2 only in one's own programs, 3 and 4 nobody but root.
    pub perf_event_paranoid: Option<i64>,
    /// Whether others than root may load BPF programs: 0 they may.
    pub unprivileged_bpf_disabled: Option<u64>,
    /// Who may trace whom: 0 one's own, 1 one's children, 2 root, 3 nobody.
    pub ptrace_scope: Option<u64>,
    /// Who sees addresses of the kernel: 0 all, 1 root, 2 nobody.
    pub kptr_restrict: Option<u64>,
    /// Whether addresses are random: 0 no, 2 all.
    pub randomize_va_space: Option<u64>,
    /// Who may use `io_uring`: 0 all, 1 root and a group, 2 nobody.
    pub io_uring_disabled: Option<u64>,
}

impl Confinement {
    /// Whether the capability of this number (`capabilities(7)`, `linux/capability.h`) is in
    /// effect.
    pub fn has_capability(&self, number: u32) -> Option<bool> {
        let mask = u64::from_str_radix(self.capabilities.as_deref()?, 16).ok()?;
        Some(mask >> number & 1 == 1)
    }
}
