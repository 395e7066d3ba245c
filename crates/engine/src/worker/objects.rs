//! Kernel objects of a peer: the limits of its descriptors and of its System V queues.
//!
//! A peer reads its own `/proc/self/fd` before its first phase and after its last. So no other process has to hold its
//! descriptors, and those that a library opened are found too. Descriptors that the worker had before it opened the
//! mechanism, and those that carry reports, are left out.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod unsupported;

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use ipcperf_model::{KernelObject, KernelObjectLimits, Mode, Role, RunSpec};

#[cfg(target_os = "linux")]
use linux::{descriptor_limits, system_v_queues};
#[cfg(not(target_os = "linux"))]
use unsupported::{descriptor_limits, system_v_queues};

/// Value of each limit, in bytes, by object number, object kind and name of the limit.
type ObjectLimits = BTreeMap<(i64, String, &'static str), u64>;

/// Descriptors that do not belong to the mechanism.
static EXCLUDED: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());

/// Leaves out every descriptor that is open now.
pub(crate) fn exclude_open_descriptors() {
    EXCLUDED.lock().unwrap_or_else(PoisonError::into_inner).extend(open_descriptors());
}

/// Leaves out `descriptor`.
pub(super) fn exclude(descriptor: &OwnedFd) {
    EXCLUDED.lock().unwrap_or_else(PoisonError::into_inner).push(descriptor.as_raw_fd());
}

/// Objects that a peer has found so far.
#[derive(Debug)]
pub(super) struct ObjectSurvey {
    before: ObjectLimits,
}

impl ObjectSurvey {
    /// Takes the first survey, if `spec` asks for one. With two threads, only one of them does.
    pub(super) fn begin(spec: &RunSpec, role: Role) -> Option<Self> {
        let is_others = spec.mode == Mode::TwoThreads && role == Role::Receiver;
        (spec.objects == KernelObjectLimits::Read && !is_others)
            .then(|| Self { before: read_limits() })
    }

    /// Takes the second survey and reports every object seen in either.
    pub(super) fn end(self, spec: &RunSpec, role: Role) -> Vec<KernelObject> {
        let after = read_limits();
        let mut keys: Vec<_> = self.before.keys().chain(after.keys()).collect();
        keys.sort();
        keys.dedup();
        let requested_bytes = spec.kernel_buffer.requested_bytes(spec.buffer_bytes);
        let object = |key: &(i64, String, &'static str)| KernelObject {
            role: (spec.mode != Mode::TwoThreads).then_some(role),
            number: key.0,
            object: key.1.clone(),
            limit: key.2.to_owned(),
            requested_bytes,
            before_bytes: self.before.get(key).copied(),
            after_bytes: after.get(key).copied(),
        };
        keys.into_iter().map(object).collect()
    }
}

fn open_descriptors() -> Vec<RawFd> {
    let Ok(folder) = fs::read_dir("/proc/self/fd") else { return Vec::new() };
    let numbers = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut numbers: Vec<RawFd> = numbers.collect();
    // The list contains the descriptor of the folder itself, which is closed by now.
    // SAFETY: fcntl with F_GETFD accesses no memory, and fails for a number that is not open.
    numbers.retain(|&number| unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0);
    numbers
}

fn read_limits() -> ObjectLimits {
    let others = EXCLUDED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let own = open_descriptors().into_iter().filter(|descriptor| !others.contains(descriptor));
    let of_descriptor = |number: RawFd| {
        // SAFETY: the number was open a moment ago. Between phases only this thread opens and closes descriptors here,
        // and it has closed none but that of the folder. Calls on a closed number fail.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        descriptor_limits(descriptor)
            .into_iter()
            .map(move |(object, limit, bytes)| ((i64::from(number), object, limit), bytes))
    };
    own.flat_map(of_descriptor).chain(system_v_queues()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    use rustix::pipe::pipe;

    use super::*;

    #[test]
    fn pipes_and_sockets_have_the_limits_that_the_kernel_gives_them() {
        let (inlet, _outlet) = pipe().unwrap();
        let capacity = rustix::pipe::fcntl_setpipe_size(&inlet, 8 << 10).unwrap() as u64;
        assert_eq!(descriptor_limits(inlet.as_fd()), [("pipe".to_owned(), "capacity", capacity)]);
        let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::empty(), None);
        let names: Vec<_> = descriptor_limits(pair.unwrap().0.as_fd())
            .into_iter()
            .map(|one| (one.0, one.1))
            .collect();
        let socket = || "unix stream socket".to_owned();
        assert_eq!(names, [(socket(), "send buffer"), (socket(), "receive buffer")]);
    }

    /// The test uses high numbers, which no other test of this process gets.
    #[test]
    fn what_was_open_beforehand_is_left_out() {
        let (inlet, _outlet) = pipe().unwrap();
        let high = |least| rustix::io::fcntl_dupfd_cloexec(&inlet, least).unwrap();
        let before = high(700);
        exclude_open_descriptors();
        let (after, report) = (high(701), high(702));
        exclude(&report);
        let numbers: Vec<i64> = read_limits().into_keys().map(|key| key.0).collect();
        let is_seen = |one: &OwnedFd| numbers.contains(&i64::from(one.as_raw_fd()));
        assert_eq!([&before, &after, &report].map(is_seen), [false, true, false]);
    }
}
