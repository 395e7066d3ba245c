//! What this process, and so every worker, may use: its soft resource limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::amount::Amount;

/// Resource limits of this process, as `ulimit` has them: numbers or `unlimited`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessLimits {
    /// Open files (`ulimit -n`).
    pub ulimit_open_files: Option<Amount>,
    /// Processes of this user (`ulimit -u`).
    pub ulimit_processes: Option<Amount>,
    /// Memory that may be kept from swapping (`ulimit -l`).
    pub ulimit_locked_memory_bytes: Option<Amount>,
    /// What POSIX queues of this user may hold (`ulimit -q`).
    pub ulimit_message_queues_bytes: Option<Amount>,
    /// A stack (`ulimit -s`).
    pub ulimit_stack_bytes: Option<Amount>,
    /// A file, one in shared memory too (`ulimit -f`).
    pub ulimit_file_bytes: Option<Amount>,
    /// Memory that may be mapped (`ulimit -v`).
    pub ulimit_address_space_bytes: Option<Amount>,
    /// Signals that may wait (`ulimit -i`).
    pub ulimit_pending_signals: Option<Amount>,
    /// Highest real-time priority (`ulimit -r`).
    pub ulimit_realtime_priority: Option<Amount>,
}
