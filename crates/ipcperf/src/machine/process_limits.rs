//! What this process, and so every worker, may use: its soft resource limits.

use rustix::process::{Resource, getrlimit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::amount::Amount;

/// Resource limits of this process, as `ulimit` has them: numbers or `unlimited`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ProcessLimits {
    /// Open files (`ulimit -n`).
    pub(crate) ulimit_open_files: Option<Amount>,
    /// Processes of this user (`ulimit -u`).
    pub(crate) ulimit_processes: Option<Amount>,
    /// Memory that may be kept from swapping (`ulimit -l`).
    pub(crate) ulimit_locked_memory_bytes: Option<Amount>,
    /// What POSIX queues of this user may hold (`ulimit -q`).
    pub(crate) ulimit_message_queues_bytes: Option<Amount>,
    /// A stack (`ulimit -s`).
    pub(crate) ulimit_stack_bytes: Option<Amount>,
    /// A file, one in shared memory too (`ulimit -f`).
    pub(crate) ulimit_file_bytes: Option<Amount>,
    /// Memory that may be mapped (`ulimit -v`).
    pub(crate) ulimit_address_space_bytes: Option<Amount>,
    /// Signals that may wait (`ulimit -i`).
    pub(crate) ulimit_pending_signals: Option<Amount>,
    /// Highest real-time priority (`ulimit -r`).
    pub(crate) ulimit_realtime_priority: Option<Amount>,
}

impl ProcessLimits {
    pub(super) fn read() -> Self {
        let soft = |resource| Some(Amount::of(getrlimit(resource).current));
        Self {
            ulimit_open_files: soft(Resource::Nofile),
            ulimit_processes: soft(Resource::Nproc),
            ulimit_locked_memory_bytes: soft(Resource::Memlock),
            ulimit_message_queues_bytes: soft(Resource::Msgqueue),
            ulimit_stack_bytes: soft(Resource::Stack),
            ulimit_file_bytes: soft(Resource::Fsize),
            ulimit_address_space_bytes: soft(Resource::As),
            ulimit_pending_signals: soft(Resource::Sigpending),
            ulimit_realtime_priority: soft(Resource::Rtprio),
        }
    }
}
