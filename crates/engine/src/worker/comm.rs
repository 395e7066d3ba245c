//! The name (`comm`) by which `ps`, DTrace and bpftrace know the processes and threads of a run.

use std::ffi::CString;
use std::sync::OnceLock;

use ipcperf_model::Role;
use rustix::thread::set_name;

/// The name that was given for all of them.
static GIVEN: OnceLock<String> = OnceLock::new();

/// Calls the calling thread `name`, and so all processes that it forks and the threads that play; the kernel keeps
/// 15 bytes of it.
pub(crate) fn take(name: &str) {
    if let Ok(text) = CString::new(name) {
        // Only a filter of system calls refuses it; then the name stays as it was.
        let _ = set_name(&text);
    }
    // A worker has one assignment, so nothing was given before.
    let _ = GIVEN.set(name.to_owned());
}

/// Name of the thread that plays `role`: the one that was given, or the role's.
pub(crate) fn of_thread(role: Role) -> String {
    GIVEN.get().map_or(role.name(), String::as_str).to_owned()
}
