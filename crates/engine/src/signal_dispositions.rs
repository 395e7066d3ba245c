//! Signal dispositions: those that this process inherited, and those that its children get.

use std::ptr::null;

/// Whether `signal` is ignored, as under `nohup` or in a script's background job; false for an invalid number.
#[must_use]
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: a zeroed `sigaction` is valid and only written to; the disposition is not changed.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, null(), &raw mut now) == 0 && now.sa_sigaction == libc::SIG_IGN
    }
}

/// Ignores `SIGXFSZ`: a write beyond the file size limit (`ulimit -f`) then fails with `EFBIG`, as on a full disk, and
/// does not end the process. Child processes inherit this: see [`restore_file_size`].
pub fn ignore_file_size() {
    // SAFETY: no handler is involved.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Undoes [`ignore_file_size`] for third-party programs, between fork and exec. Makes one system call.
pub fn restore_file_size() {
    // SAFETY: no handler is involved; it may be called between fork and exec.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_DFL) };
}

/// Ends this process, by `SIGIO`, once its standard input, a pipe, is closed at the other end or has more to read. Unlike a
/// signal at the death of the parent, this works whichever program has started this one.
///
/// # Errors
/// Returns the system's error.
pub fn die_with_input() -> std::io::Result<()> {
    const INPUT: libc::c_int = 0;
    // SAFETY: no handler and no memory is involved.
    let has_failed = unsafe {
        libc::signal(libc::SIGIO, libc::SIG_DFL);
        let flags = libc::fcntl(INPUT, libc::F_GETFL);
        flags == -1
            || libc::fcntl(INPUT, libc::F_SETOWN, libc::getpid()) == -1
            || libc::fcntl(INPUT, libc::F_SETFL, flags | libc::O_ASYNC) == -1
    };
    if has_failed { Err(std::io::Error::last_os_error()) } else { Ok(()) }
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
        // Unlike SIGHUP or SIGINT, no program that starts others ignores this one.
        assert!(!is_ignored(libc::SIGUSR2));
        assert!(!is_ignored(-1));
    }
}
