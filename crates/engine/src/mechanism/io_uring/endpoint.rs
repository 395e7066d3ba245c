//! Implementation of `io-uring`.

mod end;
mod ring;

use std::fs::read_to_string;
use std::os::fd::OwnedFd;

use ipcperf_model::Failure;
use rustix::net::SocketType;
use rustix::process::{Resource, getrlimit};

use super::{DEPTH, REGISTERED};
use crate::channel::{Channel, Limit, Mechanism, Opened, Setup};
use crate::mechanism::socket::{SocketEnd, unix_pair};
use crate::platform::uring;
use crate::worker;
use crate::workload::pool_bytes;
use end::UringEnd;
use ring::Registered;

/// The part of `io-uring` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: uring::available,
    limit,
    in_flight_messages,
    execute: worker::execute::<Uring>,
    ..Mechanism::BASE
};

/// Returns the largest message whose buffers can be registered; `None` if buffers are not registered or this
/// process may lock unlimited memory.
fn limit(setup: &Setup<'_>) -> Option<Limit> {
    if !Registered::from_setup(setup).buffers() || has_ipc_lock() {
        return None;
    }
    let locked = getrlimit(Resource::Memlock).current?;
    let (bytes, purpose) = registrable(setup, locked);
    Some(Limit { bytes, reason: format!("RLIMIT_MEMLOCK is {locked} bytes, for {purpose}") })
}

/// Returns the largest message if at most `locked` bytes may be registered in all, and what that memory is
/// for.
fn registrable(setup: &Setup<'_>, locked: u64) -> (u64, String) {
    let max_bytes = (0..u64::BITS).rev().map(|bit| 1 << bit).fold(0, |most, more| {
        if registered_bytes(setup, most + more) <= locked { most + more } else { most }
    });
    (max_bytes, format!("{} of registered buffers", registered_bytes(setup, setup.buffer_bytes)))
}

/// Returns the size of the buffers, in whole pages, from which both peers send messages of `bytes` bytes and
/// into which they receive them.
fn registered_bytes(setup: &Setup<'_>, bytes: u64) -> u64 {
    let page = rustix::param::page_size() as u64;
    let pages = |turns| pool_bytes(bytes, turns, setup.buffers).div_ceil(page);
    pages(send_depth(setup)).saturating_add(pages(1)).saturating_mul(2 * page)
}

/// Returns the number of messages in send buffers beyond the first, for both peers. In a stream only one of them sends,
/// so the result is an upper bound.
fn in_flight_messages(setup: &Setup<'_>) -> u64 {
    2 * (send_depth(setup) as u64 - 1)
}

/// Returns whether this process has `CAP_IPC_LOCK`.
fn has_ipc_lock() -> bool {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << 14) != 0)
}

/// Returns the maximum number of sends that are held back and then executed together. Outside a stream,
/// nothing more than one reply is ever held back.
fn send_depth(setup: &Setup<'_>) -> usize {
    let depth = setup.number(&DEPTH).and_then(|depth| usize::try_from(depth).ok()).unwrap_or(1);
    if !setup.workload.is_answered() { depth } else { depth.min(2) }
}

struct Uring;

impl Channel for Uring {
    type End = UringEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<UringEnd>, Failure> {
        let pair: Opened<SocketEnd<false>> = unix_pair(SocketType::STREAM, setup)?;
        let registered = Registered::from_setup(setup);
        let end = |socket: OwnedFd, held_back| UringEnd::new(socket, held_back, registered);
        // A peer that only receives holds nothing back.
        let answers = if !setup.workload.is_answered() { 1 } else { send_depth(setup) };
        Ok(Opened {
            sender: end(pair.sender.socket, send_depth(setup)),
            receiver: end(pair.receiver.socket, answers),
            granted: pair.granted,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ipcperf_model::message_options::BufferReuse;

    use super::*;

    #[test]
    fn buffers_that_can_be_registered_are_those_that_will_be() {
        let (depth, locked) = (BTreeMap::from([("depth".to_owned(), "4".to_owned())]), 8 << 20);
        let setup = |buffers| Setup { buffer_bytes: 4096, buffers, ..Setup::with_options(&depth) };
        let most = |buffers| registrable(&setup(buffers), locked).0;
        assert_eq!(
            most(BufferReuse::Hot),
            locked / (2 * 5) / 4096 * 4096,
            "four to send from, one to receive into"
        );
        assert_eq!(most(BufferReuse::Rotate), locked / (2 * 32), "sixteen each");
        assert_eq!(most(BufferReuse::Cold), 0);
        assert!(registrable(&setup(BufferReuse::Cold), u64::MAX).0 > 1 << 40);
    }
}
