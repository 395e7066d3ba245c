//! Implementation of `splice`.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use ipcperf_model::Failure;
use rustix::fs::{CWD, Mode as Access, OFlags, openat};
use rustix::io::Errno;
use rustix::pipe::{
    IoSliceRaw, PipeFlags, SpliceFlags, fcntl_getpipe_size, pipe_with, splice, vmsplice,
};

use crate::channel::{Blocking, Channel, Descriptors, Endpoint, Granted, Mechanism, Opened, Setup};
use crate::mechanism::setup_failure::setup_failure;
use crate::mechanism::waiting::{self, NonblockingWait};

/// The part of `splice` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism =
    Mechanism { execute: waiting::execute::<Splice, NonblockingWait>, ..Mechanism::BASE };

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
