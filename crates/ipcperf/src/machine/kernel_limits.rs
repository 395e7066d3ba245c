//! What the kernel allows of pipes, queues, semaphores and shared memory: limits for all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::read::{line, number};

/// The kernel's limits on IPC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct KernelLimits {
    /// What a pipe may be set to without privilege.
    pub(crate) pipe_max_size_bytes: Option<u64>,
    /// Pages in a user's pipes above which new ones get one page (`fs.pipe-user-pages-soft`); 0 is
    /// no limit.
    pub(crate) pipe_user_pages_soft: Option<u64>,
    /// Pages in a user's pipes above which there are no new ones (`fs.pipe-user-pages-hard`); 0 is
    /// no limit.
    pub(crate) pipe_user_pages_hard: Option<u64>,
    /// Datagrams that may wait in the queue of a Unix domain socket.
    pub(crate) unix_max_dgram_qlen: Option<u64>,
    /// Messages a POSIX queue may hold (`fs.mqueue.msg_max`).
    pub(crate) mqueue_msg_max: Option<u64>,
    /// Largest message of a POSIX queue (`fs.mqueue.msgsize_max`).
    pub(crate) mqueue_msgsize_max_bytes: Option<u64>,
    /// POSIX queues there may be (`fs.mqueue.queues_max`).
    pub(crate) mqueue_queues_max: Option<u64>,
    /// Largest message of a System V queue (`kernel.msgmax`).
    pub(crate) msgmax_bytes: Option<u64>,
    /// What a System V queue may hold (`kernel.msgmnb`).
    pub(crate) msgmnb_bytes: Option<u64>,
    /// System V queues there may be (`kernel.msgmni`).
    pub(crate) msgmni: Option<u64>,
    /// System V semaphores: in a set, in all, operations in a call, sets (`kernel.sem`).
    pub(crate) sem: Option<String>,
    /// Largest System V shared memory (`kernel.shmmax`).
    pub(crate) shmmax_bytes: Option<u64>,
    /// Pages of System V shared memory in all (`kernel.shmall`).
    pub(crate) shmall_pages: Option<u64>,
    /// Pieces of System V shared memory (`kernel.shmmni`).
    pub(crate) shmmni: Option<u64>,
}

impl KernelLimits {
    pub(super) fn read() -> Self {
        let setting = |name: &str| number(format!("/proc/sys/{name}"));
        Self {
            pipe_max_size_bytes: setting("fs/pipe-max-size"),
            pipe_user_pages_soft: setting("fs/pipe-user-pages-soft"),
            pipe_user_pages_hard: setting("fs/pipe-user-pages-hard"),
            unix_max_dgram_qlen: setting("net/unix/max_dgram_qlen"),
            mqueue_msg_max: setting("fs/mqueue/msg_max"),
            mqueue_msgsize_max_bytes: setting("fs/mqueue/msgsize_max"),
            mqueue_queues_max: setting("fs/mqueue/queues_max"),
            msgmax_bytes: setting("kernel/msgmax"),
            msgmnb_bytes: setting("kernel/msgmnb"),
            msgmni: setting("kernel/msgmni"),
            sem: line("/proc/sys/kernel/sem").map(|text| spaced(&text)),
            shmmax_bytes: setting("kernel/shmmax"),
            shmall_pages: setting("kernel/shmall"),
            shmmni: setting("kernel/shmmni"),
        }
    }
}

/// Columns with one space between them.
pub(super) fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_get_one_space_between_them() {
        assert_eq!(spaced("32000\t1024000000  500\n"), "32000 1024000000 500");
    }
}
