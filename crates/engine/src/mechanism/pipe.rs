//! `pipe`: an unnamed pipe in each direction.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::pipe::{PipeFlags, pipe_with};

use super::pipe_end::{CAPACITY, Direction, PipeEnd, join};
use super::readiness::{self, Poll, WAIT};
use super::refusal::refused;
use crate::channel::{Channel, Documentation, Mechanism, Opened, Setup};

/// Facts about `pipe`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "pipe",
    about: "unnamed pipe, one in each direction",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::Told,
    unrelated: Unrelated::No("descriptors are inherited or passed on"),
    helper: Helper::Nobody,
    options: &[CAPACITY, WAIT],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "The kernel keeps a ring of pages; write copies into it, read copies out of \
            it, and either sleeps when it can do nothing. A write of more than the capacity is \
            taken in pieces, inside one call, as the reader makes room. With wait=poll each read and \
            each write is preceded by a poll, on descriptors that do not wait: one call more for \
            each, and a write of more than there is room for is taken in pieces of a call each.",
        message_boundaries: "None: a read returns what has arrived, up to what it asked for. \
            Writes of at most PIPE_BUF (4096) bytes are not interleaved with others.",
        minimum_kernel: "Any; setting the capacity needs Linux 2.6.35.",
        defaults_that_matter: "Capacity 65536 bytes (16 pages), at most fs.pipe-max-size without \
            CAP_SYS_RESOURCE. A user above fs.pipe-user-pages-soft gets smaller pipes.",
        references: &["man:pipe(7)", "man:pipe(2)", "man:fcntl(2), F_SETPIPE_SZ"],
    },
    execute: readiness::execute::<Pipe, Poll>,
    ..Mechanism::BASE
};

struct Pipe;

impl Channel for Pipe {
    type End = PipeEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<PipeEnd>, Failure> {
        join(direction()?, direction()?, setup)
    }
}

/// Creates a pipe.
pub(super) fn direction() -> Result<Direction, Failure> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(|e| refused("pipe2", e))?;
    Ok(Direction { read, write })
}
