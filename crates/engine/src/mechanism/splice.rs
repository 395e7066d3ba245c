//! `splice`: pages lent to a pipe and discarded. Nothing is moved.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::fs::{CWD, Mode as Access, OFlags, openat};
use rustix::io::Errno;
use rustix::pipe::{
    IoSliceRaw, PipeFlags, SpliceFlags, fcntl_getpipe_size, pipe_with, splice, vmsplice,
};

use super::setup_failure::setup_failure;
use crate::channel::{
    Blocking, Channel, Descriptors, Documentation, Endpoint, Granted, Mechanism, Opened, Setup,
};
use crate::worker;

/// Facts about `splice`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "splice",
    about: "pages through a pipe to /dev/null: moves no data",
    boundaries: Boundaries::None,
    delivery: Delivery::Nothing,
    path: PayloadPath::Nowhere,
    waits: PeerWait::Spins,
    payload: PayloadTransfer::Nothing,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "vmsplice puts references to the sender's pages into a pipe; splice moves \
            the references to /dev/null, where they are dropped. The receiver never gets a byte, \
            and nothing is copied. Published figures for this pair of calls are therefore the cost \
            of counting pages. ipcperf never ranks splice, reports no bandwidth for it, and \
            refuses to run it with --verify.",
        message_boundaries: "None: a splice moves what is in the pipe, up to the requested size.",
        minimum_kernel: "Linux 2.6.17.",
        defaults_that_matter: "A pipe has 16 slots. Each slot refers to one page or to a part of \
            one page, so small messages fill the pipe early. --kernel-buffer does not apply.",
        references: &["man:vmsplice(2)", "man:splice(2)", "man:pipe(7)"],
    },
    execute: worker::execute::<Splice>,
    ..Mechanism::BASE
};

struct Splice;

impl Channel for Splice {
    type End = SpliceEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<SpliceEnd>, Failure> {
        let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(|e| setup_failure("pipe2", e));
        let (there, back) = (pipe()?, pipe()?);
        let dev_null = openat(CWD, "/dev/null", OFlags::WRONLY | OFlags::CLOEXEC, Access::empty())
            .map_err(|e| setup_failure("open(/dev/null)", e))?;
        let capacity_bytes =
            fcntl_getpipe_size(&there.1).map_err(|e| setup_failure("fcntl(F_GETPIPE_SZ)", e))?;
        let dev_null = Arc::new(dev_null);
        let flags = match setup.blocking {
            Blocking::Wait => SpliceFlags::empty(),
            Blocking::Try => SpliceFlags::NONBLOCK,
        };
        let end = |read, write| SpliceEnd { read, write, dev_null: Arc::clone(&dev_null), flags };
        Ok(Opened {
            sender: end(back.0, there.1),
            receiver: end(there.0, back.1),
            granted: Granted { kernel_buffer_bytes: Some(capacity_bytes as u64) },
        })
    }
}

#[derive(Debug)]
struct SpliceEnd {
    read: OwnedFd,
    write: OwnedFd,
    dev_null: Arc<OwnedFd>,
    flags: SpliceFlags,
}

impl Endpoint for SpliceEnd {
    const KEEPS_BOUNDARIES: bool = false;

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        // SAFETY: the descriptor is a writing end, so the pages are only read. They may change before they
        // are dropped, which has no effect because nothing reads them.
        unsafe { vmsplice(&self.write, &[IoSliceRaw::from_slice(bytes)], self.flags) }
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        splice(&self.read, None, &*self.dev_null, None, bytes.len(), self.flags)
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        Some(Descriptors { read: self.read.as_fd(), write: self.write.as_fd() })
    }
}
