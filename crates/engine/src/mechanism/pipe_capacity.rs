//! Capacity of a pipe, which only Linux can report and change.

use std::os::fd::OwnedFd;

use ipcperf_model::Failure;

#[cfg(target_os = "linux")]
pub(super) use linux::set;

/// Refuses to change the capacity of `pipe`. Its size is unknown: the system adapts it to the load.
#[cfg(not(target_os = "linux"))]
pub(super) fn set(_: &OwnedFd, requested_bytes: Option<u64>) -> Result<Option<u64>, Failure> {
    use ipcperf_model::FailureKind;

    match requested_bytes {
        None => Ok(None),
        Some(_) => {
            Err(Failure::new(FailureKind::SetUp, "setting the capacity of a pipe needs Linux")
                .with_remedy("leave out --kernel-buffer and the option capacity"))
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::io::Errno;
    use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

    use super::{Failure, OwnedFd};
    use crate::mechanism::setup_failure::setup_failure;

    /// Requests a capacity and returns what the kernel granted. A request beyond the system's maximum gets the
    /// maximum, as with sockets; the return value shows it.
    pub(in crate::mechanism) fn set(
        pipe: &OwnedFd,
        requested_bytes: Option<u64>,
    ) -> Result<Option<u64>, Failure> {
        if let Some(bytes) = requested_bytes {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            match fcntl_setpipe_size(pipe, bytes) {
                Ok(_) => {}
                Err(Errno::PERM | Errno::INVAL) => set_max(pipe)?,
                Err(errno) => return Err(setup_failure("fcntl(F_SETPIPE_SZ)", errno)),
            }
        }
        let granted =
            fcntl_getpipe_size(pipe).map_err(|e| setup_failure("fcntl(F_GETPIPE_SZ)", e))?;
        Ok(Some(granted as u64))
    }

    fn set_max(pipe: &OwnedFd) -> Result<(), Failure> {
        let max_bytes = std::fs::read_to_string("/proc/sys/fs/pipe-max-size")
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(1 << 20);
        fcntl_setpipe_size(pipe, max_bytes).map(drop).map_err(|errno| {
            setup_failure("fcntl(F_SETPIPE_SZ)", errno)
                .with_remedy("request less, or raise fs.pipe-user-pages-soft with sysctl")
        })
    }
}
