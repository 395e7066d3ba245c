//! Reads the soft resource limits of this process, which every worker inherits.

use ipcperf_model::environment::{Amount, ProcessLimits};
use rustix::process::{Resource, getrlimit};

/// Reads the limits.
pub(super) fn read() -> ProcessLimits {
    let [message_queues, pending_signals, realtime_priority] = read_linux();
    ProcessLimits {
        ulimit_open_files: soft(Resource::Nofile),
        ulimit_processes: soft(Resource::Nproc),
        ulimit_locked_memory_bytes: soft(Resource::Memlock),
        ulimit_message_queues_bytes: message_queues,
        ulimit_stack_bytes: soft(Resource::Stack),
        ulimit_file_bytes: soft(Resource::Fsize),
        ulimit_address_space_bytes: soft(Resource::As),
        ulimit_pending_signals: pending_signals,
        ulimit_realtime_priority: realtime_priority,
    }
}

fn soft(resource: Resource) -> Option<Amount> {
    Some(Amount::from_limit(getrlimit(resource).current))
}

/// Limits on message queues, pending signals and real-time priority, which only Linux has.
#[cfg(target_os = "linux")]
fn read_linux() -> [Option<Amount>; 3] {
    [Resource::Msgqueue, Resource::Sigpending, Resource::Rtprio].map(soft)
}

/// Limits that only Linux has.
#[cfg(not(target_os = "linux"))]
fn read_linux() -> [Option<Amount>; 3] {
    [const { None }; 3]
}
