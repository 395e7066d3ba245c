//! Waits until any of several connections has a message.

use std::hint::spin_loop;
use std::os::fd::AsRawFd;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;

use ipcperf_model::{Failure, FailureKind};
use rustix::io::Errno;
use rustix::thread::sched_yield;

#[cfg(target_os = "linux")]
use super::uring_polls::UringPolls;
use crate::channel::{MessageEnd, Multiplexing, PeerPlacement};
#[cfg(target_os = "linux")]
use crate::harness_failure;

/// Most connections that one call returns: as many as there are peers at most.
#[cfg(target_os = "linux")]
const MAX_EVENTS: usize = ipcperf_model::peers::MAX_PEERS as usize;

/// The connections of a peer, as it waits for them. A connection whose last message has arrived stays among them: nothing
/// more arrives there, so it is not ready again.
#[derive(Debug)]
pub enum Multiplexer {
    /// In `poll`, which gets all descriptors each time.
    Poll(Vec<libc::pollfd>),
    /// In `epoll_wait`, on an instance where their descriptors are registered.
    #[cfg(target_os = "linux")]
    Epoll(OwnedFd),
    /// In `io_uring_enter`, with polls of their descriptors.
    #[cfg(target_os = "linux")]
    Uring(Box<UringPolls>),
    /// By asking each in turn.
    Turns(PeerPlacement),
}

impl Multiplexer {
    /// Creates the multiplexer for `ends`: they have descriptors, or can tell whether they are ready. The descriptors must
    /// stay open as long as it is used.
    ///
    /// # Errors
    /// Returns [`FailureKind::SetUp`] if the system refuses, or if an end has no descriptor and cannot tell.
    pub fn new(
        ends: &mut [&mut dyn MessageEnd],
        kind: Multiplexing,
        placement: PeerPlacement,
    ) -> Result<Self, Failure> {
        if ends.iter_mut().all(|end| end.is_ready().is_some()) {
            return Ok(Self::Turns(placement));
        }
        match kind {
            Multiplexing::Poll => {
                let watched = |end: &&mut dyn MessageEnd| {
                    let fd = end.descriptors().ok_or_else(no_readiness)?.read.as_raw_fd();
                    Ok(libc::pollfd { fd, events: libc::POLLIN, revents: 0 })
                };
                ends.iter().map(watched).collect::<Result<_, _>>().map(Self::Poll)
            }
            #[cfg(target_os = "linux")]
            Multiplexing::Epoll => register(ends),
            #[cfg(target_os = "linux")]
            Multiplexing::Uring => {
                let descriptors = ends
                    .iter()
                    .map(|end| Ok(end.descriptors().ok_or_else(no_readiness)?.read.as_raw_fd()));
                let polls = UringPolls::new(descriptors.collect::<Result<_, Failure>>()?);
                let failed = |errno| harness_failure(FailureKind::SetUp, "io_uring_setup", errno);
                polls.map(|polls| Self::Uring(Box::new(polls))).map_err(failed)
            }
        }
    }

    /// Waits, and fills `ready` with connections that have a message or whose other peer is gone. Returns the number of
    /// system calls.
    ///
    /// # Errors
    /// Returns the system's error, but not `EINTR`.
    pub(super) fn wait<'a>(
        &mut self,
        ends: &mut [&'a mut (dyn MessageEnd + 'a)],
        ready: &mut Vec<usize>,
    ) -> Result<u64, Errno> {
        ready.clear();
        let waited = match self {
            Self::Poll(watched) => wait_in_poll(watched, ready),
            #[cfg(target_os = "linux")]
            Self::Epoll(epoll) => wait_in_epoll(epoll, ready),
            #[cfg(target_os = "linux")]
            Self::Uring(polls) => polls.wait(ready),
            Self::Turns(placement) => return Ok(take_turns(ends, *placement, ready)),
        };
        match waited {
            Ok(()) | Err(Errno::INTR) => Ok(1),
            Err(errno) => Err(errno),
        }
    }
}

fn wait_in_poll(watched: &mut [libc::pollfd], ready: &mut Vec<usize>) -> Result<(), Errno> {
    let count = libc::nfds_t::try_from(watched.len()).map_err(|_| Errno::INVAL)?;
    // SAFETY: pointer and number are those of a slice of pollfd that the call may write to.
    if unsafe { libc::poll(watched.as_mut_ptr(), count, -1) } < 0 {
        let error = std::io::Error::last_os_error();
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    }
    let all = watched.iter().enumerate();
    ready.extend(all.filter(|(_, one)| one.revents != 0).map(|(number, _)| number));
    Ok(())
}

/// Asks each connection until one is ready. Returns the number of system calls.
fn take_turns<'a>(
    ends: &mut [&'a mut (dyn MessageEnd + 'a)],
    placement: PeerPlacement,
    ready: &mut Vec<usize>,
) -> u64 {
    let mut calls = 0;
    loop {
        for (number, end) in ends.iter_mut().enumerate() {
            if end.is_ready() == Some(true) {
                ready.push(number);
            }
        }
        if !ready.is_empty() {
            return calls;
        }
        if placement == PeerPlacement::SeparateCpus {
            spin_loop();
        } else {
            // A sender may need this CPU.
            sched_yield();
            calls += 1;
        }
    }
}

#[cfg(target_os = "linux")]
fn register(ends: &[&mut dyn MessageEnd]) -> Result<Multiplexer, Failure> {
    use rustix::event::epoll::{CreateFlags, EventData, EventFlags, add, create};
    let failed = |call: &'static str| move |errno| harness_failure(FailureKind::SetUp, call, errno);
    let epoll = create(CreateFlags::CLOEXEC).map_err(failed("epoll_create1"))?;
    for (number, end) in (0..).zip(ends) {
        let descriptor = end.descriptors().ok_or_else(no_readiness)?.read;
        add(&epoll, descriptor, EventData::new_u64(number), EventFlags::IN)
            .map_err(failed("epoll_ctl"))?;
    }
    Ok(Multiplexer::Epoll(epoll))
}

#[cfg(target_os = "linux")]
fn wait_in_epoll(epoll: &OwnedFd, ready: &mut Vec<usize>) -> Result<(), Errno> {
    use std::mem::MaybeUninit;

    use rustix::event::epoll::{Event, wait};
    let mut events = [const { MaybeUninit::<Event>::uninit() }; MAX_EVENTS];
    let (events, _) = wait(epoll, &mut events, None)?;
    let numbers = events.iter().map(|event| event.data.u64());
    ready.extend(numbers.map(|number| usize::try_from(number).unwrap_or(usize::MAX)));
    Ok(())
}

fn no_readiness() -> Failure {
    let place = "a mechanism whose ends cannot wait for several connections";
    Failure::new(FailureKind::SetUp, place).with_remedy("use the workload pairs or fan-out")
}
