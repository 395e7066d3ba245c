//! A single sampling event.

use std::fs;
use std::os::fd::{FromRawFd, OwnedFd};

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::profile::Reach;
use perf_event_open_sys::bindings;
use rustix::io::Errno;

use super::event;
use super::sample::PARTS;
use super::threads::{self, EVERYONE, Started, Thread};
use crate::counters::{Code, Failed};

/// Maximum sampling frequency; the kernel lowers it if sampling has taken too much time.
const MOST_HZ: &str = "/proc/sys/kernel/perf_event_max_sample_rate";
/// Maximum length of a call chain.
const DEPTH: u16 = 64;

/// Event, frequency and extent of sampling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Manner {
    /// Name of the event.
    pub(super) event: String,
    /// Type and config of the event.
    pub(super) code: Code,
    /// Samples per second of a thread that is running.
    pub(super) frequency_hz: u64,
    /// Part of each thread that is sampled: kernel and user space, or user space only.
    pub(super) side: Side,
    /// Whether whole CPUs or single threads are sampled.
    pub(super) reach: Reach,
}

impl Manner {
    /// Returns the most complete sampling by `event`, at a lower frequency if the kernel allows no more.
    ///
    /// # Errors
    /// The name is not an event.
    pub(super) fn of(event: &str, frequency_hz: u64) -> Result<Self, Unavailable> {
        let most = fs::read_to_string(MOST_HZ).ok().and_then(|most| most.trim().parse().ok());
        let frequency_hz = frequency_hz.min(most.unwrap_or(frequency_hz)).max(1);
        Ok(Self {
            event: event.to_owned(),
            code: event::resolve(event).map_err(Failed::why)?,
            frequency_hz,
            side: Side::Both,
            reach: Reach::Cpus,
        })
    }
}

/// Part of a thread that is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// User space and the kernel.
    Both,
    /// User space only.
    UserAlone,
}

/// Opens an event on the calling thread, or on one of the CPUs that it may use, and closes it again.
///
/// # Errors
/// The error of the kernel.
pub(super) fn try_out(manner: &Manner) -> Result<(), Errno> {
    let calling = threads::calling();
    let cpu = calling.cpus.first().copied().unwrap_or_default();
    let thread = if manner.reach == Reach::Cpus { &EVERYONE } else { &calling };
    open(manner, thread, cpu).map(drop)
}

/// Opens an event for `thread` while it runs on `cpu`. The event starts disabled.
///
/// # Errors
/// The error of the kernel.
pub(super) fn open(manner: &Manner, thread: &Thread, cpu: i32) -> Result<OwnedFd, Errno> {
    let mut attributes = attributes(manner, thread);
    let (nobody, close_on_exec) = (-1, bindings::PERF_FLAG_FD_CLOEXEC.into());
    // SAFETY: the pointer is to a complete structure that contains its own size.
    let fd = unsafe {
        perf_event_open_sys::perf_event_open(
            &raw mut attributes,
            thread.tid,
            cpu,
            nobody,
            close_on_exec,
        )
    };
    said(fd)?;
    // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[allow(clippy::cast_possible_truncation, reason = "the structure's size is far below 2^32")]
fn attributes(manner: &Manner, thread: &Thread) -> bindings::perf_event_attr {
    let mut attributes = bindings::perf_event_attr::default();
    attributes.size = size_of::<bindings::perf_event_attr>() as u32;
    attributes.type_ = manner.code.kind;
    attributes.config = manner.code.config;
    attributes.config1 = manner.code.config1;
    attributes.config2 = manner.code.config2;
    attributes.sample_type = PARTS;
    attributes.clockid = libc::CLOCK_MONOTONIC;
    attributes.sample_max_stack = DEPTH;
    attributes.sample_freq = manner.frequency_hz;
    attributes.set_freq(1);
    attributes.set_disabled(1);
    attributes.set_use_clockid(1);
    attributes.set_write_backward(1);
    attributes.set_inherit((thread.started == Started::Sampled).into());
    // The clock of an idle CPU keeps running, so idle time is excluded. Arm PMUs cannot exclude it, and need not.
    let ticks_when_idle = manner.reach == Reach::Cpus && manner.code.is_clock();
    attributes.set_exclude_idle(ticks_when_idle.into());
    if manner.side == Side::UserAlone {
        attributes.set_exclude_kernel(1);
        attributes.set_exclude_hv(1);
        attributes.set_exclude_callchain_kernel(1);
    }
    attributes
}

/// Converts the result of a system call.
pub(super) fn said(answer: i32) -> Result<(), Errno> {
    if answer == -1 {
        let errno = std::io::Error::last_os_error().raw_os_error();
        return Err(Errno::from_raw_os_error(errno.unwrap_or(libc::EIO)));
    }
    Ok(())
}
