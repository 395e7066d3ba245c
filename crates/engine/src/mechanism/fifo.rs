//! `fifo`: a pipe with a name in the file system.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::fs::{CWD, FileType, Mode as Access, OFlags, mknodat, open};

use super::Scratch;
use super::pipe_end::{CAPACITY, Direction, PipeEnd, join};
use super::refusal::refused;
use crate::channel::{Channel, Documentation, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `fifo`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "fifo",
    about: "named pipe, one in each direction",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::Told,
    unrelated: Unrelated::Yes,
    helper: Helper::Nobody,
    options: &[CAPACITY],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A pipe that unrelated processes find by its path. Once open it is a pipe \
            in every respect. ipcperf makes it in a private folder, opens both ends and removes \
            the name before the parties part.",
        message_boundaries: "None, as with a pipe.",
        minimum_kernel: "Any; setting the capacity needs Linux 2.6.35.",
        defaults_that_matter: "As with a pipe. The folder is TMPDIR, else /tmp; its file system \
            carries the name, never the data.",
        references: &["man:fifo(7)", "man:mkfifo(3)", "man:pipe(7)"],
    },
    execute: worker::execute::<Fifo>,
    ..Mechanism::BASE
};

struct Fifo;

impl Channel for Fifo {
    type End = PipeEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<PipeEnd>, Failure> {
        let scratch = Scratch::new()?;
        join(direction(&scratch, "there")?, direction(&scratch, "back")?, setup)
    }
}

fn direction(scratch: &Scratch, name: &str) -> Result<Direction, Failure> {
    let path = scratch.path(name);
    mknodat(CWD, &path, FileType::Fifo, Access::RUSR | Access::WUSR, 0)
        .map_err(|e| refused("mkfifo", e))?;
    // Nonblocking opens must begin with the reading end: a writer without a reader gets ENXIO.
    let flags = OFlags::CLOEXEC | OFlags::NONBLOCK;
    let read = open(&path, flags | OFlags::RDONLY, Access::empty())
        .map_err(|e| refused("open(O_RDONLY)", e))?;
    let write = open(&path, flags | OFlags::WRONLY, Access::empty())
        .map_err(|e| refused("open(O_WRONLY)", e))?;
    Ok(Direction { read, write })
}
