//! Dispositions of signals: what this process was started with, and what those that it starts get.

use std::ptr::null;

/// Whether `signal` is ignored, as `nohup` and a script's background have it; a number that is no signal is not.
#[must_use]
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: a zeroed `sigaction` is a valid one, and is only written to; nothing is changed.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, null(), &raw mut now) == 0 && now.sa_sigaction == libc::SIG_IGN
    }
}

/// From now on a write beyond the limit of a file's size (`ulimit -f`) fails with `EFBIG`, as on a full disk, and
/// does not end the process. What this process starts inherits it: see [`restore_file_size`].
pub fn ignore_file_size() {
    // SAFETY: no handler is involved.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Undoes [`ignore_file_size`]: for programs of others, between fork and exec. It makes one system call.
pub fn restore_file_size() {
    // SAFETY: no handler is involved; it may be called between fork and exec.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_DFL) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_signal_is_known() {
        restore_file_size();
        assert!(!is_ignored(libc::SIGXFSZ));
        ignore_file_size();
        assert!(is_ignored(libc::SIGXFSZ));
        assert!(!is_ignored(libc::SIGHUP));
        assert!(!is_ignored(-1));
    }
}
