//! Names that a worker may leave when it is killed, wherever the system keeps them.

use super::posix_mq::remove_queues;
use super::scratch::scratch_path;
use super::sysv::remove_sysv;

/// Removes the names that `worker`, which is gone, may have left: its folder, message queues and
/// System V objects. Most workers made none, and those that did have removed them.
pub fn remove_names(worker: u32) {
    let _ = std::fs::remove_dir_all(scratch_path(worker));
    remove_queues(worker);
    if let Ok(worker) = i32::try_from(worker) {
        remove_sysv(worker);
    }
}
