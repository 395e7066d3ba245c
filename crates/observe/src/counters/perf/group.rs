//! Groups of counters that count all at the same time or not at all.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use ipcperf_model::instrument::counters::PrivilegeLevel;
use perf_event_open_sys::{bindings, perf_event_open};
use rustix::io::Errno;

use crate::counters::event::{Event, EventCode};

/// Number of words in a reading before the counts: the number of counters, and the times enabled and running.
pub(super) const HEADER_WORDS: usize = 3;
/// Maximum number of counters in a group: a reading of a [`CounterFd`](crate::CounterFd) has 64 words.
pub(super) const MAX_COUNTERS: usize = 64 - HEADER_WORDS;

/// Threads that a group counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CounterTarget {
    /// One thread; 0 is the calling thread.
    Thread(u32),
    /// The thread and all threads that it starts later in its process.
    ThreadWithChildren(u32),
}

/// Counters of one thread, the group leader first.
#[derive(Debug)]
pub(super) struct CounterGroup {
    counters: Vec<OwnedFd>,
}

impl CounterGroup {
    /// Opens the counters of `events`, in order, and for each event in the order of its spaces. They count immediately.
    ///
    /// # Errors
    /// Index of the event that the kernel refused, and the error.
    pub(super) fn open(events: &[Event], target: CounterTarget) -> Result<Self, (usize, Errno)> {
        let mut counters: Vec<OwnedFd> = Vec::new();
        for (index, event) in events.iter().enumerate() {
            for &space in &event.spaces {
                let leader = counters.first().map(AsFd::as_fd);
                let opened = open(event.code, space, target, leader);
                counters.push(opened.map_err(|errno| (index, errno))?);
            }
        }
        Ok(Self { counters })
    }

    /// Returns the leader, through which the whole group is read; `None` if the group is empty.
    pub(super) fn leader(&self) -> Option<BorrowedFd<'_>> {
        self.counters.first().map(AsFd::as_fd)
    }

    /// Reads the group as a peer does; empty if it cannot be read.
    pub(super) fn read(&self) -> Vec<u64> {
        let mut bytes = [0; 8 * (HEADER_WORDS + MAX_COUNTERS)];
        let Some(leader) = self.leader() else { return Vec::new() };
        let length = rustix::io::read(leader, &mut bytes).unwrap_or(0);
        let words = bytes[..length].chunks_exact(8);
        words.map(|word| word.try_into().map_or(0, u64::from_ne_bytes)).collect()
    }
}

/// Opens one counter, in the group of `leader` if there is one.
fn open(
    code: EventCode,
    space: PrivilegeLevel,
    target: CounterTarget,
    leader: Option<BorrowedFd<'_>>,
) -> Result<OwnedFd, Errno> {
    let mut attributes = attributes(code, space, target);
    let (CounterTarget::Thread(tid) | CounterTarget::ThreadWithChildren(tid)) = target;
    // The kernel refuses a thread ID that does not exist.
    let tid = i32::try_from(tid).unwrap_or(i32::MAX);
    let leader = leader.map_or(-1, |leader| leader.as_raw_fd());
    // SAFETY: the pointer is to a complete attribute structure that contains its own size. Nothing is sampled, and none
    // of our memory is shared with the kernel.
    let descriptor = unsafe {
        perf_event_open(&raw mut attributes, tid, -1, leader, bindings::PERF_FLAG_FD_CLOEXEC.into())
    };
    if descriptor < 0 {
        let errno = std::io::Error::last_os_error();
        return Err(Errno::from_io_error(&errno).unwrap_or(Errno::INVAL));
    }
    // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn attributes(
    code: EventCode,
    space: PrivilegeLevel,
    target: CounterTarget,
) -> bindings::perf_event_attr {
    let mut attributes = bindings::perf_event_attr::default();
    attributes.type_ = code.kind;
    attributes.config = code.config;
    attributes.read_format = u64::from(
        bindings::PERF_FORMAT_GROUP
            | bindings::PERF_FORMAT_TOTAL_TIME_ENABLED
            | bindings::PERF_FORMAT_TOTAL_TIME_RUNNING,
    );
    attributes.size = u32::try_from(size_of_val(&attributes)).unwrap_or(0);
    attributes.config1 = code.config1;
    attributes.config2 = code.config2;
    // Some event sources do not support any exclusion.
    attributes.set_exclude_hv((space != PrivilegeLevel::Both).into());
    // A clock runs in the kernel too, whether or not the kernel is excluded; with the exclusion, no privilege is
    // needed.
    attributes.set_exclude_kernel((space == PrivilegeLevel::User || code.is_cpu_time()).into());
    attributes.set_exclude_user((space == PrivilegeLevel::Kernel).into());
    if matches!(target, CounterTarget::ThreadWithChildren(_)) {
        attributes.set_inherit(1);
        attributes.set_inherit_thread(1);
    }
    attributes
}
