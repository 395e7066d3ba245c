//! What the kernel allows of pipes, queues, semaphores and shared memory: limits for all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kernel's limits on IPC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelLimits {
    /// What a pipe may be set to without privilege.
    pub pipe_max_size_bytes: Option<u64>,
    /// Pages in a user's pipes above which new ones get one page (`fs.pipe-user-pages-soft`); 0 is
    /// no limit.
    pub pipe_user_pages_soft: Option<u64>,
    /// Pages in a user's pipes above which there are no new ones (`fs.pipe-user-pages-hard`); 0 is
    /// no limit.
    pub pipe_user_pages_hard: Option<u64>,
    /// Datagrams that may wait in the queue of a Unix domain socket.
    pub unix_max_dgram_qlen: Option<u64>,
    /// Messages a POSIX queue may hold (`fs.mqueue.msg_max`).
    pub mqueue_msg_max: Option<u64>,
    /// Largest message of a POSIX queue (`fs.mqueue.msgsize_max`).
    pub mqueue_msgsize_max_bytes: Option<u64>,
    /// POSIX queues there may be (`fs.mqueue.queues_max`).
    pub mqueue_queues_max: Option<u64>,
    /// Largest message of a System V queue (`kernel.msgmax`).
    pub msgmax_bytes: Option<u64>,
    /// What a System V queue may hold (`kernel.msgmnb`).
    pub msgmnb_bytes: Option<u64>,
    /// System V queues there may be (`kernel.msgmni`).
    pub msgmni: Option<u64>,
    /// System V semaphores: in a set, in all, operations in a call, sets (`kernel.sem`).
    pub sem: Option<String>,
    /// Largest System V shared memory (`kernel.shmmax`).
    pub shmmax_bytes: Option<u64>,
    /// Pages of System V shared memory in all (`kernel.shmall`).
    pub shmall_pages: Option<u64>,
    /// Pieces of System V shared memory (`kernel.shmmni`).
    pub shmmni: Option<u64>,
}
