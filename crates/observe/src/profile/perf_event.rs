//! A single sampling event.

use std::fs;
use std::os::fd::{FromRawFd, OwnedFd};

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::profile::SampledThreads;
use perf_event_open_sys::bindings;
use rustix::io::Errno;

use super::event;
use super::sample::SAMPLE_TYPE;
use super::threads::{self, ALL_THREADS, SampledThread, Started};
use crate::counters::{EventCode, EventError};

/// Maximum sampling frequency; the kernel lowers it if sampling has taken too much time.
const MAX_SAMPLE_RATE_FILE: &str = "/proc/sys/kernel/perf_event_max_sample_rate";
/// Maximum length of a call chain.
const MAX_STACK_DEPTH: u16 = 64;

/// Event, frequency and extent of sampling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SampleConfig {
    /// Name of the event.
    pub(super) event: String,
    /// Type and config of the event.
    pub(super) code: EventCode,
    /// Samples per second of a thread that is running.
    pub(super) frequency_hz: u64,
    /// Part of each thread that is sampled: kernel and user space, or user space only.
    pub(super) spaces: SampledSpaces,
    /// Whether whole CPUs or single threads are sampled.
    pub(super) sampled: SampledThreads,
}

impl SampleConfig {
    /// Returns the most complete sampling by `event`, at a lower frequency if the kernel allows no more.
    ///
    /// # Errors
    /// The name is not an event.
    pub(super) fn new(event: &str, frequency_hz: u64) -> Result<Self, Unavailable> {
        let max_hz =
            fs::read_to_string(MAX_SAMPLE_RATE_FILE).ok().and_then(|most| most.trim().parse().ok());
        let frequency_hz = frequency_hz.min(max_hz.unwrap_or(frequency_hz)).max(1);
        Ok(Self {
            event: event.to_owned(),
            code: event::resolve(event).map_err(EventError::into_unavailable)?,
            frequency_hz,
            spaces: SampledSpaces::Both,
            sampled: SampledThreads::Cpus,
        })
    }
}

/// Part of a thread that is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SampledSpaces {
    /// User space and the kernel.
    Both,
    /// User space only.
    UserOnly,
}

/// Opens an event on the calling thread, or on one of the CPUs that it may use, and closes it again.
///
/// # Errors
/// The error of the kernel.
pub(super) fn try_open(config: &SampleConfig) -> Result<(), Errno> {
    let calling = threads::current();
    let cpu = calling.cpus.first().copied().unwrap_or_default();
    let thread = if config.sampled == SampledThreads::Cpus { &ALL_THREADS } else { &calling };
    open(config, thread, cpu).map(drop)
}

/// Opens an event for `thread` while it runs on `cpu`. The event starts disabled.
///
/// # Errors
/// The error of the kernel.
pub(super) fn open(
    config: &SampleConfig,
    thread: &SampledThread,
    cpu: i32,
) -> Result<OwnedFd, Errno> {
    let mut attributes = attributes(config, thread);
    let (no_group, close_on_exec) = (-1, bindings::PERF_FLAG_FD_CLOEXEC.into());
    // SAFETY: the pointer is to a complete structure that contains its own size.
    let fd = unsafe {
        perf_event_open_sys::perf_event_open(
            &raw mut attributes,
            thread.tid,
            cpu,
            no_group,
            close_on_exec,
        )
    };
    check_result(fd)?;
    // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[allow(clippy::cast_possible_truncation, reason = "the structure's size is far below 2^32")]
fn attributes(config: &SampleConfig, thread: &SampledThread) -> bindings::perf_event_attr {
    let mut attributes = bindings::perf_event_attr::default();
    attributes.size = size_of::<bindings::perf_event_attr>() as u32;
    attributes.type_ = config.code.kind;
    attributes.config = config.code.config;
    attributes.config1 = config.code.config1;
    attributes.config2 = config.code.config2;
    attributes.sample_type = SAMPLE_TYPE;
    attributes.clockid = libc::CLOCK_MONOTONIC;
    attributes.sample_max_stack = MAX_STACK_DEPTH;
    attributes.sample_freq = config.frequency_hz;
    attributes.set_freq(1);
    attributes.set_disabled(1);
    attributes.set_use_clockid(1);
    attributes.set_write_backward(1);
    attributes.set_inherit((thread.started == Started::Sampled).into());
    // The clock of an idle CPU keeps running, so idle time is excluded. Arm PMUs cannot exclude it, and need not.
    let excludes_idle = config.sampled == SampledThreads::Cpus && config.code.is_cpu_time();
    attributes.set_exclude_idle(excludes_idle.into());
    if config.spaces == SampledSpaces::UserOnly {
        attributes.set_exclude_kernel(1);
        attributes.set_exclude_hv(1);
        attributes.set_exclude_callchain_kernel(1);
    }
    attributes
}

/// Converts the result of a system call.
pub(super) fn check_result(result: i32) -> Result<(), Errno> {
    if result == -1 {
        let errno = std::io::Error::last_os_error().raw_os_error();
        return Err(Errno::from_raw_os_error(errno.unwrap_or(libc::EIO)));
    }
    Ok(())
}
