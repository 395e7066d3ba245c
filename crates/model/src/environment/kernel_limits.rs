//! System-wide limits of the kernel on pipes, queues, semaphores and shared memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits of the kernel on IPC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelLimits {
    /// Maximum capacity of a pipe for unprivileged users, bytes (`fs.pipe-max-size`).
    pub pipe_max_size_bytes: Option<u64>,
    /// Soft limit on the total pages of a user's pipes (`fs.pipe-user-pages-soft`). Above it, a new pipe gets only
    /// two pages (before Linux 5.14: one page). 0 means no limit.
    pub pipe_user_pages_soft: Option<u64>,
    /// Hard limit on the total pages of a user's pipes (`fs.pipe-user-pages-hard`). Above it, no new pipe can be
    /// created. 0 means no limit.
    pub pipe_user_pages_hard: Option<u64>,
    /// Maximum number of datagrams in the queue of a Unix domain socket (`net.unix.max_dgram_qlen`).
    pub unix_max_dgram_qlen: Option<u64>,
    /// Maximum number of messages in a POSIX queue (`fs.mqueue.msg_max`).
    pub mqueue_msg_max: Option<u64>,
    /// Maximum message size of a POSIX queue, bytes (`fs.mqueue.msgsize_max`).
    pub mqueue_msgsize_max_bytes: Option<u64>,
    /// Maximum number of POSIX queues (`fs.mqueue.queues_max`).
    pub mqueue_queues_max: Option<u64>,
    /// Maximum message size of a System V queue, bytes (`kernel.msgmax`).
    pub msgmax_bytes: Option<u64>,
    /// Capacity of a System V queue, bytes (`kernel.msgmnb`).
    pub msgmnb_bytes: Option<u64>,
    /// Maximum number of System V queues (`kernel.msgmni`).
    pub msgmni: Option<u64>,
    /// Limits on System V semaphores (`kernel.sem`), in this order: semaphores per set, semaphores in total, operations
    /// per call, number of sets.
    pub sem: Option<String>,
    /// Maximum size of a System V shared memory segment, bytes (`kernel.shmmax`).
    pub shmmax_bytes: Option<u64>,
    /// Maximum total size of System V shared memory, pages (`kernel.shmall`).
    pub shmall_pages: Option<u64>,
    /// Maximum number of System V shared memory segments (`kernel.shmmni`).
    pub shmmni: Option<u64>,
}
