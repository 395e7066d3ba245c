//! `pipe`: an unnamed pipe in each direction.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};
use ipcperf_model::{Failure, Mode};

use super::pipe_end::{CAPACITY, PipeEnd, PipeFds, open_endpoints};
use super::setup_failure::setup_failure;
use super::waiting::{self, AnyWait, WAIT, WAITS};
use crate::channel::{Channel, Documentation, MULTIPLEX, ManyPeers, Mechanism, Opened, Setup};
use crate::platform::close_on_exec::{PipeFlags, pipe_with};

/// Facts about `pipe`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "pipe",
    about: "unnamed pipe, one in each direction",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    many_peers: ManyPeers::Multiplexed,
    options: &[CAPACITY, WAIT, MULTIPLEX],
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "The kernel keeps a ring of pages for each pipe. A write copies bytes into \
            these pages, and a read copies them out. A write to a full pipe sleeps, and a read \
            from an empty pipe sleeps. If a write is larger than the capacity, the kernel \
            transfers it in pieces within the same call, as the reader makes room. With wait=poll, \
            the descriptors are nonblocking, and a peer calls poll before each read and each \
            write. Each read and each write therefore costs one additional call. Because the \
            descriptors are nonblocking, a write that is larger than the free space in the pipe \
            takes several calls.",
        message_boundaries: "None: a read returns what has arrived, up to the requested size. \
            Writes of at most PIPE_BUF (4096) bytes are not interleaved with other writes.",
        minimum_kernel: "Any. Setting the capacity needs Linux 2.6.35.",
        defaults_that_matter: "The capacity is 65536 bytes (16 pages). Without CAP_SYS_RESOURCE, \
            the capacity can be set to at most fs.pipe-max-size. If the pipes of a user have more \
            than fs.pipe-user-pages-soft pages in total, new pipes are smaller.",
        references: &["man:pipe(7)", "man:pipe(2)", "man:fcntl(2), F_SETPIPE_SZ"],
    },
    execute: waiting::execute::<UnnamedPipe, AnyWait>,
    ..Mechanism::BASE
};

struct UnnamedPipe;

impl Channel for UnnamedPipe {
    type End = PipeEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<PipeEnd>, Failure> {
        open_endpoints(new_pipe()?, new_pipe()?, setup)
    }
}

/// Creates a pipe.
pub(super) fn new_pipe() -> Result<PipeFds, Failure> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(|e| setup_failure("pipe2", e))?;
    Ok(PipeFds { read, write })
}
