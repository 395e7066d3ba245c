//! Turns Ctrl-C and similar signals into a file descriptor that can be polled.

use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use ipcperf_engine::signal_dispositions::is_ignored;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU};

use crate::exit_signal;

/// Signals that ask the command to end. SIGXCPU arrives when the limit of `ulimit -t` is used up.
const SIGNALS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGXCPU];

/// Receiver of the signals that ask the command to end.
#[derive(Debug)]
pub(super) struct Interrupt {
    arrived: UnixStream,
}

impl Interrupt {
    /// Catches these signals: from now on they end the command cleanly, after which it dies of them. Signals that were
    /// ignored when it started, as by `nohup` or for a background job of a script, stay ignored.
    pub(super) fn catch() -> std::io::Result<Self> {
        let (arrived, arrives) = UnixStream::pair()?;
        arrived.set_nonblocking(true)?;
        for signal in SIGNALS.into_iter().filter(|&signal| !is_ignored(signal)) {
            exit_signal::remember(signal)?;
            signal_hook::low_level::pipe::register(signal, arrives.try_clone()?)?;
        }
        Ok(Self { arrived })
    }

    /// Returns a descriptor that becomes readable once a signal has arrived.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.arrived.as_fd()
    }

    /// Whether a signal has arrived since the last call.
    pub(super) fn take_arrived(&mut self) -> bool {
        matches!(self.arrived.read(&mut [0; 16]), Ok(1..))
    }

    /// Waits for `pause` or until a signal arrives; returns whether one did.
    pub(super) fn wait(&mut self, pause: Duration) -> bool {
        let end = Instant::now() + pause;
        while !self.take_arrived() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            // The loop checks again, whatever ended the wait.
            let _ = poll(&mut [PollFd::new(&self.arrived, PollFlags::IN)], Some(&timespec(left)));
        }
        true
    }
}

pub(super) fn timespec(left: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(left.subsec_nanos()),
    }
}
