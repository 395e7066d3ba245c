//! `fifo`: a pipe with a name in the file system.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};
use ipcperf_model::{Failure, Mode, Role};
use rustix::fs::{Mode as Access, OFlags, open};
use rustix::io::Errno;

use super::TempDir;
use super::pipe_end::{CAPACITY, PipeEnd, PipeFds, open_endpoints, own_endpoint};
use super::setup_failure::setup_failure;
use super::waiting::{self, AnyWait, WAIT, WAITS};
use crate::channel::{
    Channel, Documentation, Granted, MULTIPLEX, ManyPeers, Mechanism, Meet, Meeting, Opened, Setup,
};
use crate::platform::folder::make_fifo;

/// Facts about `fifo`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "fifo",
    about: "named pipe, one in each direction",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::Yes,
    helper: Helper::None,
    many_peers: ManyPeers::Multiplexed,
    options: &[CAPACITY, WAIT, MULTIPLEX],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A fifo is a pipe with a path. Unrelated processes can open it by this path. \
            An open fifo behaves exactly like a pipe. ipcperf creates its two fifos in a private \
            folder, opens both ends of each, and removes their paths before the peers start. In mode 2exec, \
            the receiver creates the fifos, and each peer opens its ends by their paths.",
        message_boundaries: "None, as with pipe.",
        minimum_kernel: "Any. Setting the capacity needs Linux 2.6.35.",
        defaults_that_matter: "The defaults are the same as for pipe. The folder is created in \
            TMPDIR, or in /tmp if TMPDIR is not set. The file system of this folder stores only \
            the name of the fifo, never the data.",
        references: &["man:fifo(7)", "man:mkfifo(3)", "man:pipe(7)"],
    },
    execute: waiting::execute::<Fifo, AnyWait>,
    meet: Some(waiting::meet::<Fifo, AnyWait>),
    ..Mechanism::BASE
};

/// Name of the FIFO from the sender to the receiver.
const THERE: &str = "there";
/// Name of the other FIFO.
const BACK: &str = "back";

struct Fifo;

impl Channel for Fifo {
    type End = PipeEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<PipeEnd>, Failure> {
        let scratch = TempDir::new()?;
        open_endpoints(new_fifo(&scratch, THERE)?, new_fifo(&scratch, BACK)?, setup)
    }
}

impl Meet for Fifo {
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(PipeEnd, Granted), Failure> {
        let (incoming, outgoing) = match meeting.role() {
            Role::Receiver => {
                for name in [BACK, THERE] {
                    meeting.create(name, |path| Ok(make_fifo(path)?))?;
                }
                (THERE, BACK)
            }
            _ => (BACK, THERE),
        };
        // A nonblocking open for reading always succeeds, and one for writing once the other peer reads.
        let open = |name, access| {
            let path = meeting.path(name);
            let flags = OFlags::CLOEXEC | OFlags::NONBLOCK | access;
            let is_early = |errno| matches!(errno, Errno::NOENT | Errno::NXIO);
            let what = format!("opening {}", path.display());
            meeting.retry(&what, is_early, || open(&path, flags, Access::empty()))
        };
        let read = open(incoming, OFlags::RDONLY)?;
        let write = open(outgoing, OFlags::WRONLY)?;
        own_endpoint(read, write, setup)
    }
}

fn new_fifo(scratch: &TempDir, name: &str) -> Result<PipeFds, Failure> {
    let path = scratch.path(name);
    make_fifo(&path).map_err(|e| setup_failure("mkfifo", e))?;
    // Nonblocking opens must begin with the reading end: a writer without a reader gets ENXIO.
    let flags = OFlags::CLOEXEC | OFlags::NONBLOCK;
    let read = open(&path, flags | OFlags::RDONLY, Access::empty())
        .map_err(|e| setup_failure("open(O_RDONLY)", e))?;
    let write = open(&path, flags | OFlags::WRONLY, Access::empty())
        .map_err(|e| setup_failure("open(O_WRONLY)", e))?;
    Ok(PipeFds { read, write })
}
