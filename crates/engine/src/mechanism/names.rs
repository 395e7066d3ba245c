//! Names that a worker may leave when it is killed, wherever the system keeps them.

use super::iceoryx::remove_shared_memory;
use super::lasting::lasting_path;
use super::posix_mq::remove_queues;
use super::scratch::scratch_path;
use super::sysv::remove_sysv;
use crate::RunSpec;

/// Removes the names that `worker`, which is gone, may have left of `spec`: its folders, message queues,
/// shared memory and System V objects. Most workers made none, and those that did have removed them.
pub fn remove_names(spec: &RunSpec, worker: u32) {
    for folder in [scratch_path(worker), lasting_path(spec, worker)] {
        let _ = std::fs::remove_dir_all(folder);
    }
    remove_queues(worker);
    remove_shared_memory(worker);
    if let Ok(worker) = i32::try_from(worker) {
        remove_sysv(worker);
    }
}
