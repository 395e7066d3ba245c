//! Reads the system-wide limits of the kernel on pipes, queues, semaphores and shared memory.

use ipcperf_model::environment::KernelLimits;

use super::read::{read_line, read_number};

/// Reads the limits.
pub(super) fn read() -> KernelLimits {
    let setting = |name: &str| read_number(format!("/proc/sys/{name}"));
    KernelLimits {
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
        sem: read_line("/proc/sys/kernel/sem").map(|text| normalize_spaces(&text)),
        shmmax_bytes: setting("kernel/shmmax"),
        shmall_pages: setting("kernel/shmall"),
        shmmni: setting("kernel/shmmni"),
    }
}

/// Replaces the whitespace between columns by one space.
pub(super) fn normalize_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_get_one_space_between_them() {
        assert_eq!(normalize_spaces("32000\t1024000000  500\n"), "32000 1024000000 500");
    }
}
