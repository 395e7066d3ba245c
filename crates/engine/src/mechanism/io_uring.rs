//! `io-uring`: a Unix domain stream socket, driven by operations queued in shared rings.

mod end;
mod ring;

use std::fs::read_to_string;
use std::os::fd::OwnedFd;

use end::UringEnd;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::workload::Kind;
use ipcperf_model::{Failure, Mode, Unavailable};
use ring::Registered;
use rustix::io::Errno;
use rustix::net::SocketType;
use rustix::process::{Resource, getrlimit};

use super::socket::{SocketEnd, unix_pair};
use crate::channel::{
    Channel, Documentation, Limit, Mechanism, Opened, OptionSpec, OptionValues, Setup,
};
use crate::worker;
use crate::workload::places_bytes;

/// Option that sets how many operations one system call carries out.
const DEPTH: OptionSpec = OptionSpec {
    name: "depth",
    about: "operations that one io_uring_enter carries out, at most",
    values: OptionValues::Number(1..=64),
    default: "1",
};

/// Option that selects what is registered with the kernel.
const REGISTERED: OptionSpec = OptionSpec {
    name: "registered",
    about: "what the kernel is told of beforehand: the socket, the buffers",
    values: OptionValues::OneOf(&["none", "files", "buffers", "both"]),
    default: "none",
};

/// Facts about `io-uring`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "io-uring",
    about: "Unix domain stream socket, moved by operations in io_uring's queues",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::Told,
    unrelated: Unrelated::No("descriptors are inherited or passed on"),
    helper: Helper::Nobody,
    options: &[DEPTH, REGISTERED],
    modes: &[Mode::TwoThreads, Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "The socket is that of unix-stream; sends and receives are written into a queue \
            that the kernel shares, and one io_uring_enter has it carry out what is there and waits \
            until all of it is done. With depth=1 that is one operation: one enter for each send and \
            one for each receive. A deeper sender of a stream sends from as many buffers in turn and \
            enters once for all, linked so that each waits for the one before. In a round trip, \
            depth=2 and more hold a reply back until the receive that follows it: one enter for the \
            two. What is held back is sent before a phase ends. A send that stopped half-way ends \
            its chain, and is gone on with by another enter, which is no short write. Registered \
            files save the kernel looking the socket up; registered buffers (READ_FIXED and \
            WRITE_FIXED in place of SEND and RECV) stay pinned and mapped. One thread cannot wait \
            for itself: there is no 1thread.",
        message_boundaries: "None: a receive returns what is queued, up to what it asked for, across \
            several sends.",
        minimum_kernel: "Linux 5.12 (a send that stopped half-way ends its chain). From 6.1 on the \
            ring is told that one thread uses it (IORING_SETUP_SINGLE_ISSUER, \
            IORING_SETUP_DEFER_TASKRUN), from 5.19 on a large send is finished by the kernel.",
        defaults_that_matter: "No polling thread in the kernel. Where a socket is full, an operation \
            waits as poll does: until a quarter of SO_SNDBUF at most is in use, where write goes on \
            at the first free byte. WRITE_FIXED then stops half-way: large messages take several \
            enters. Registered buffers count towards RLIMIT_MEMLOCK.",
        references: &[
            "man:io_uring(7)",
            "man:io_uring_setup(2)",
            "man:io_uring_enter(2)",
            "man:io_uring_register(2)",
            "man:unix(7)",
        ],
    },
    availability: available,
    limit,
    holds: held,
    execute: worker::execute::<Uring>,
    ..Mechanism::BASE
};

fn available() -> Result<(), Unavailable> {
    ring::try_out().map_err(|errno| {
        let disabled = read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
        refusal(errno, disabled.trim())
    })
}

/// Explains `errno` when `kernel.io_uring_disabled` is `disabled`.
fn refusal(errno: Errno, disabled: &str) -> Unavailable {
    let told = |reason: String, remedy: &str| Unavailable { reason, remedy: remedy.to_owned() };
    match (errno, disabled) {
        (Errno::NOSYS, _) => told(
            format!("io_uring_setup: {errno}"),
            "needs Linux 5.12 with CONFIG_IO_URING, and no seccomp filter that hides the call",
        ),
        (Errno::OPNOTSUPP, _) => {
            told("this kernel's io_uring lacks what is needed".to_owned(), "needs Linux 5.12")
        }
        (Errno::PERM, "1") => told(
            "kernel.io_uring_disabled is 1: only kernel.io_uring_group may use io_uring".to_owned(),
            "set it to 0 with sysctl, or join that group",
        ),
        (Errno::PERM, "2") => told(
            "kernel.io_uring_disabled is 2: nobody may use io_uring".to_owned(),
            "set it to 0 with sysctl",
        ),
        (Errno::PERM | Errno::ACCESS, _) => told(
            format!("io_uring_setup: {errno}"),
            "needs a seccomp filter that lets io_uring_setup, io_uring_enter and \
             io_uring_register through, which those of containers do not",
        ),
        _ => told(
            format!("io_uring_setup: {errno}"),
            "raise the limits on descriptors and locked memory: ulimit -n, ulimit -l",
        ),
    }
}

/// Returns the largest message whose buffers can be registered; `None` if buffers are not registered or this
/// process may lock unlimited memory.
fn limit(setup: &Setup<'_>) -> Option<Limit> {
    if !Registered::of(setup).buffers() || locks_freely() {
        return None;
    }
    let locked = getrlimit(Resource::Memlock).current?;
    let (bytes, because) = registrable(setup, locked);
    Some(Limit { bytes, because: format!("RLIMIT_MEMLOCK is {locked} bytes, for {because}") })
}

/// Returns the largest message if at most `locked` bytes may be registered in all, and what that memory is
/// for.
fn registrable(setup: &Setup<'_>, locked: u64) -> (u64, String) {
    let most = (0..u64::BITS).rev().map(|bit| 1 << bit).fold(0, |most, more| {
        if registered_bytes(setup, most + more) <= locked { most + more } else { most }
    });
    (most, format!("{} of registered buffers", registered_bytes(setup, setup.buffer_bytes)))
}

/// Returns the size of the buffers, in whole pages, from which both peers send messages of `bytes` bytes and
/// into which they receive them.
fn registered_bytes(setup: &Setup<'_>, bytes: u64) -> u64 {
    let page = rustix::param::page_size() as u64;
    let pages = |turns| places_bytes(bytes, turns, setup.buffers).div_ceil(page);
    pages(held_back(setup)).saturating_add(pages(1)).saturating_mul(2 * page)
}

/// Returns the number of messages in send buffers beyond the first, for both peers. In a stream only one of them sends,
/// so the result is an upper bound.
fn held(setup: &Setup<'_>) -> u64 {
    2 * (held_back(setup) as u64 - 1)
}

/// Returns whether this process has `CAP_IPC_LOCK`.
fn locks_freely() -> bool {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << 14) != 0)
}

/// Returns the maximum number of sends that are held back and then executed together. Outside a stream,
/// nothing more than one reply is ever held back.
fn held_back(setup: &Setup<'_>) -> usize {
    let depth = setup.number(&DEPTH).and_then(|depth| usize::try_from(depth).ok()).unwrap_or(1);
    if setup.workload == Kind::Stream { depth } else { depth.min(2) }
}

struct Uring;

impl Channel for Uring {
    type End = UringEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<UringEnd>, Failure> {
        let pair: Opened<SocketEnd<false>> = unix_pair(SocketType::STREAM, setup)?;
        let registered = Registered::of(setup);
        let end = |socket: OwnedFd, held_back| UringEnd::new(socket, held_back, registered);
        // A peer that only receives holds nothing back.
        let answers = if setup.workload == Kind::Stream { 1 } else { held_back(setup) };
        Ok(Opened {
            sender: end(pair.sender.socket, held_back(setup)),
            receiver: end(pair.receiver.socket, answers),
            granted: pair.granted,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ipcperf_model::message_options::Reuse;

    use super::*;

    #[test]
    fn each_refusal_has_its_remedy() {
        for (errno, disabled, reason, remedy) in [
            (Errno::NOSYS, "", "not implemented", "CONFIG_IO_URING"),
            (Errno::PERM, "2", "is 2", "sysctl"),
            (Errno::PERM, "1", "io_uring_group", "join"),
            (Errno::PERM, "0", "not permitted", "seccomp"),
            (Errno::PERM, "", "not permitted", "seccomp"),
            (Errno::OPNOTSUPP, "0", "lacks", "5.12"),
            (Errno::NOMEM, "0", "memory", "ulimit -l"),
        ] {
            let told = refusal(errno, disabled);
            assert!(told.reason.contains(reason), "{}", told.reason);
            assert!(told.remedy.contains(remedy), "{}", told.remedy);
        }
    }

    #[test]
    fn buffers_that_can_be_registered_are_those_that_will_be() {
        let (depth, locked) = (BTreeMap::from([("depth".to_owned(), "4".to_owned())]), 8 << 20);
        let setup = |buffers| Setup { buffer_bytes: 4096, buffers, ..Setup::plain(&depth) };
        let most = |buffers| registrable(&setup(buffers), locked).0;
        assert_eq!(
            most(Reuse::Hot),
            locked / (2 * 5) / 4096 * 4096,
            "four to send from, one to receive into"
        );
        assert_eq!(most(Reuse::Rotate), locked / (2 * 32), "sixteen each");
        assert_eq!(most(Reuse::Cold), 0);
        assert!(registrable(&setup(Reuse::Cold), u64::MAX).0 > 1 << 40);
    }
}
