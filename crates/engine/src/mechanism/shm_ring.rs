//! `shm-ring`: a ring in shared memory for each direction.

use std::collections::BTreeMap;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;

use super::descriptor::refused;
use super::{
    Blocking, Boundaries, Channel, Delivery, Documentation, Endpoint, Granted, Helper, Mechanism,
    Nearness, Opened, OptionSpec, OptionValues, PayloadFate, PayloadWay, PeerDeath, Setup,
    Unavailable, Unrelated,
};
use crate::ring::{Consumer, Continuation, Producer, Waiting, capacity_for, ring};
use crate::workload::Kind;
use crate::{Failure, Mode, worker};

/// What `shm-ring` is.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "shm-ring",
    about: "ring of records in shared memory, one in each direction; copies in and out",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Memory,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::NotTold,
    unrelated: Unrelated::No("its memory is inherited or passed on"),
    helper: Helper::Nobody,
    options: &[OptionSpec {
        name: "wait",
        about: "look for 20 us then sleep, sleep at once, or give way and look again",
        values: OptionValues::OneOf(&["spin-futex", "futex", "yield"]),
        default: "spin-futex",
    }],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A memfd, mapped twice back to back so that no record wraps. The length of \
            a record stands before its payload and is stored last, so that one cache line carries \
            both; no system call is made unless a side has to sleep. On CPUs of their own the \
            parties pass long messages in chunks (32 KiB of a 256 KiB ring for round trips, 64 KiB \
            of 1 MiB for streams), so that both copy at once; on one CPU messages go whole.",
        message_boundaries: "Kept.",
        minimum_kernel: "Linux 3.17 (memfd_create); 5.14 populates the mapping faster.",
        defaults_that_matter: "Looking for 20 us needs a CPU to look with: on one CPU spin-futex \
            sleeps at once. The kernel holds nothing, so --kernel-buffer does not apply.",
        references: &["man:memfd_create(2)", "man:futex(2)", "man:mmap(2)"],
    },
    availability: available,
    limit: |_| None,
    holds: |_| 4,
    library: None,
    execute: worker::execute::<ShmRing>,
};

/// Whether a memfd can be made.
pub(super) fn available() -> Result<(), Unavailable> {
    memfd_create("ipcperf-probe", MemfdFlags::CLOEXEC).map(drop).map_err(|errno| Unavailable {
        reason: format!("memfd_create: {errno}"),
        remedy: "needs Linux 3.17 and a seccomp filter that lets memfd_create through".to_owned(),
    })
}

/// How large the ring is, and how much of a message goes into one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Geometry {
    capacity_bytes: usize,
    chunk_bytes: usize,
}

fn geometry(setup: &Setup<'_>) -> Geometry {
    const KIB: usize = 1024;
    let (capacity_bytes, chunk_bytes) = match setup.workload {
        Kind::Stream => (1024 * KIB, 64 * KIB),
        Kind::RoundTrip | Kind::RequestReply => (256 * KIB, 32 * KIB),
    };
    if setup.nearness != Nearness::OneCpu && setup.blocking == Blocking::Wait {
        return Geometry { capacity_bytes, chunk_bytes };
    }
    let message = usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 4);
    Geometry { capacity_bytes: capacity_bytes.max(capacity_for(message)), chunk_bytes: message }
}

fn waiting(options: &BTreeMap<String, String>, setup: &Setup<'_>) -> Waiting {
    if setup.blocking == Blocking::Try {
        return Waiting::Never;
    }
    match options.get("wait").map_or("spin-futex", String::as_str) {
        "yield" => Waiting::Yield,
        "spin-futex" if setup.nearness != Nearness::OneCpu => Waiting::SpinThenFutex,
        _ => Waiting::Futex,
    }
}

struct ShmRing;

impl Channel for ShmRing {
    type End = RingEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<RingEnd>, Failure> {
        let Geometry { capacity_bytes, chunk_bytes } = geometry(setup);
        let waiting = waiting(setup.options, setup);
        // A stream never goes back: one page is all that way needs.
        let back_bytes = if setup.workload == Kind::Stream { 1 } else { capacity_bytes };
        let (there, arrives_there) = ring(capacity_bytes, waiting).map_err(no_memory)?;
        let (back, arrives_back) = ring(back_bytes, waiting).map_err(no_memory)?;
        Ok(Opened {
            sender: RingEnd { outgoing: there, incoming: arrives_back, chunk_bytes },
            receiver: RingEnd { outgoing: back, incoming: arrives_there, chunk_bytes },
            granted: Granted::default(),
        })
    }
}

fn no_memory(errno: Errno) -> Failure {
    refused("mapping the ring", errno).with_remedy("free memory, or use smaller messages")
}

#[derive(Debug)]
struct RingEnd {
    outgoing: Producer,
    incoming: Consumer,
    chunk_bytes: usize,
}

impl Endpoint for RingEnd {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        self.outgoing.populate()?;
        self.incoming.populate()
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        let mut rest = bytes;
        while rest.len() > self.chunk_bytes {
            let (chunk, after) = rest.split_at(self.chunk_bytes);
            self.outgoing.push(chunk, Continuation::More)?;
            rest = after;
        }
        self.outgoing.push(rest, Continuation::Last)?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let mut filled = 0;
        loop {
            match self.incoming.pop(&mut bytes[filled..]) {
                Ok(piece) => {
                    filled += piece.bytes;
                    if piece.continuation == Continuation::Last {
                        return Ok(filled);
                    }
                }
                Err(Errno::PIPE) => return Ok(0),
                Err(errno) => return Err(errno),
            }
        }
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(self.outgoing.take_calls() + self.incoming.take_calls())
    }

    fn disown(self) {
        self.outgoing.disown();
        self.incoming.disown();
    }
}
