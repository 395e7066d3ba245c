//! The name (`comm`) under which `ps`, DTrace and bpftrace show the processes and threads of a run.

use std::ffi::CString;
use std::sync::OnceLock;

use ipcperf_model::Role;

use crate::platform::thread::set_name;

/// Name given to all of them.
static COMM_NAME: OnceLock<String> = OnceLock::new();

/// Names the calling thread `name`, and with it every process that it forks and the threads that run a role. The kernel
/// keeps 15 bytes of it.
pub(crate) fn set(name: &str) {
    if let Ok(text) = CString::new(name) {
        // Only a seccomp filter refuses this; the name then stays as it was.
        let _ = set_name(&text);
    }
    // A worker has one assignment, so nothing was given before.
    let _ = COMM_NAME.set(name.to_owned());
}

/// Name of the thread that runs `role`: the given name, or the role's.
pub(super) fn thread_name(role: Role) -> String {
    COMM_NAME.get().map_or(role.name(), String::as_str).to_owned()
}
