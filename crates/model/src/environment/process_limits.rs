//! Soft resource limits of this process, which every worker inherits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::amount::Amount;

/// Resource limits of this process, as shown by `ulimit`: numbers or `unlimited`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessLimits {
    /// Maximum number of open files (`ulimit -n`).
    pub ulimit_open_files: Option<Amount>,
    /// Maximum number of processes of this user (`ulimit -u`).
    pub ulimit_processes: Option<Amount>,
    /// Maximum size of memory locked against swapping, bytes (`ulimit -l`).
    pub ulimit_locked_memory_bytes: Option<Amount>,
    /// Maximum total size of the POSIX queues of this user, bytes (`ulimit -q`).
    pub ulimit_message_queues_bytes: Option<Amount>,
    /// Maximum size of a stack, bytes (`ulimit -s`).
    pub ulimit_stack_bytes: Option<Amount>,
    /// Maximum size of a file, including a file in shared memory, bytes (`ulimit -f`).
    pub ulimit_file_bytes: Option<Amount>,
    /// Maximum size of the address space, bytes (`ulimit -v`).
    pub ulimit_address_space_bytes: Option<Amount>,
    /// Maximum number of pending signals (`ulimit -i`).
    pub ulimit_pending_signals: Option<Amount>,
    /// Maximum real-time priority (`ulimit -r`).
    pub ulimit_realtime_priority: Option<Amount>,
}
