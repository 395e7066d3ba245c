//! Reads the soft resource limits of this process, which every worker inherits.

use ipcperf_model::environment::{Amount, ProcessLimits};
use rustix::process::{Resource, getrlimit};

/// Reads the limits.
pub(super) fn read() -> ProcessLimits {
    let soft = |resource| Some(Amount::from_limit(getrlimit(resource).current));
    ProcessLimits {
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
