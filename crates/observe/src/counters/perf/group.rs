//! Counters that count at once or not at all: opened, and read.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use ipcperf_model::instrument::counters::Space;
use perf_event_open_sys::{bindings, perf_event_open};
use rustix::io::Errno;

use crate::counters::event::{Code, Event};

/// Words of a reading before the counts: how many they are, and the two times.
pub(super) const HEAD: usize = 3;
/// The most counters of a group: a reading of a [`Dial`](crate::Dial) has 64 words.
pub(super) const MOST: usize = 64 - HEAD;

/// Whose a group counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// Of the one thread; 0 is the calling one.
    Thread(u32),
    /// Of the thread, and of those that it has yet to start in its process.
    Descendants(u32),
}

/// The counters of one thread, the leader first.
#[derive(Debug)]
pub(super) struct Group {
    counters: Vec<OwnedFd>,
}

impl Group {
    /// Opens what `events` ask for, in their order, each in the order of its spaces. They count at once.
    ///
    /// # Errors
    /// Which of the events the kernel refused, and how.
    pub(super) fn open(events: &[Event], whose: Whose) -> Result<Self, (usize, Errno)> {
        let mut counters: Vec<OwnedFd> = Vec::new();
        for (index, event) in events.iter().enumerate() {
            for &space in &event.spaces {
                let leader = counters.first().map(AsFd::as_fd);
                let opened = open(event.code, space, whose, leader);
                counters.push(opened.map_err(|errno| (index, errno))?);
            }
        }
        Ok(Self { counters })
    }

    /// Of which all the others are read; `None` where there are none.
    pub(super) fn leader(&self) -> Option<BorrowedFd<'_>> {
        self.counters.first().map(AsFd::as_fd)
    }

    /// Reads it as a party would; empty where it cannot be read.
    pub(super) fn read(&self) -> Vec<u64> {
        let mut bytes = [0; 8 * (HEAD + MOST)];
        let Some(leader) = self.leader() else { return Vec::new() };
        let length = rustix::io::read(leader, &mut bytes).unwrap_or(0);
        let words = bytes[..length].chunks_exact(8);
        words.map(|word| word.try_into().map_or(0, u64::from_ne_bytes)).collect()
    }
}

/// Opens one counter, of the group of `leader` where there is one.
fn open(
    code: Code,
    space: Space,
    whose: Whose,
    leader: Option<BorrowedFd<'_>>,
) -> Result<OwnedFd, Errno> {
    let mut attributes = attributes(code, space, whose);
    let (Whose::Thread(tid) | Whose::Descendants(tid)) = whose;
    // A number that no thread has is refused by the kernel.
    let tid = i32::try_from(tid).unwrap_or(i32::MAX);
    let leader = leader.map_or(-1, |leader| leader.as_raw_fd());
    // SAFETY: the pointer is to a whole attribute structure that says its size; nothing is sampled, and no
    // memory of ours is shared with the kernel.
    let descriptor = unsafe {
        perf_event_open(&raw mut attributes, tid, -1, leader, bindings::PERF_FLAG_FD_CLOEXEC.into())
    };
    if descriptor < 0 {
        let errno = std::io::Error::last_os_error();
        return Err(Errno::from_io_error(&errno).unwrap_or(Errno::INVAL));
    }
    // SAFETY: the kernel has just made it, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn attributes(code: Code, space: Space, whose: Whose) -> bindings::perf_event_attr {
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
    // There are sources that let nothing be excluded.
    attributes.set_exclude_hv((space != Space::Both).into());
    // Time goes by in the kernel as well, whether or not it is excluded; excluded, anyone may ask for it.
    attributes.set_exclude_kernel((space == Space::User || code.is_clock()).into());
    attributes.set_exclude_user((space == Space::Kernel).into());
    if matches!(whose, Whose::Descendants(_)) {
        attributes.set_inherit(1);
        attributes.set_inherit_thread(1);
    }
    attributes
}
