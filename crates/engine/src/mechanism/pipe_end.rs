//! Endpoints made of one descriptor to read from and one to write to: pipes and FIFOs.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use ipcperf_model::{Failure, FailureKind};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use super::pipe_capacity;
use super::setup_failure::setup_failure;
use super::waiting::TryTransfer;
use crate::channel::{
    Blocking, Descriptors, Endpoint, Granted, Opened, OptionSpec, OptionValues, Setup,
};
use crate::platform::read_write;

/// Option that pipes and FIFOs share.
pub(super) const CAPACITY: OptionSpec = OptionSpec {
    name: "capacity",
    about: "capacity of each pipe, in bytes; overrides --kernel-buffer",
    values: OptionValues::Bytes,
    default: "default",
};

/// A byte stream in each direction, each through its own descriptor.
#[derive(Debug)]
pub(super) struct PipeEnd {
    pub(super) read: OwnedFd,
    pub(super) write: OwnedFd,
    /// The same ends opened once more, nonblocking, if the system cannot try a transfer on blocking ones.
    nonblocking: Option<PipeFds>,
}

impl Endpoint for PipeEnd {
    const KEEPS_BOUNDARIES: bool = false;

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        read_write::write(&self.write, bytes)
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        read_write::read(&self.read, bytes)
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        Some(Descriptors { read: self.read.as_fd(), write: self.write.as_fd() })
    }
}

impl TryTransfer for PipeEnd {
    fn prepare_tries(&mut self) -> Result<(), Failure> {
        // Linux can try a transfer on a pipe since 6.4, and on a FIFO not at all.
        if self.try_recv(&mut [0]) == Err(Errno::OPNOTSUPP) {
            let read = open_again(&self.read, OFlags::RDONLY)?;
            let write = open_again(&self.write, OFlags::WRONLY)?;
            self.nonblocking = Some(PipeFds { read, write });
        }
        Ok(())
    }

    #[inline]
    fn try_send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        match &self.nonblocking {
            None => read_write::try_write(&self.write, bytes),
            Some(pipe) => read_write::write(&pipe.write, bytes),
        }
    }

    #[inline]
    fn try_recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        match &self.nonblocking {
            None => read_write::try_read(&self.read, bytes),
            Some(pipe) => read_write::read(&pipe.read, bytes),
        }
    }
}

/// The two descriptors of one direction.
#[derive(Debug)]
pub(super) struct PipeFds {
    pub(super) read: OwnedFd,
    pub(super) write: OwnedFd,
}

/// Opens the pipe of `end` once more, nonblocking: a duplicate would share the flag with the original.
fn open_again(end: &OwnedFd, access: OFlags) -> Result<OwnedFd, Failure> {
    let path = format!("/proc/self/fd/{}", end.as_raw_fd());
    let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC;
    open(&path, flags, Mode::empty())
        .map_err(|errno| setup_failure(&format!("opening {path}"), errno))
}

/// Joins the two directions into two endpoints with the requested capacity.
pub(super) fn open_endpoints(
    there: PipeFds,
    back: PipeFds,
    setup: &Setup<'_>,
) -> Result<Opened<PipeEnd>, Failure> {
    let requested_bytes = requested_capacity(setup)?;
    let capacity_bytes = pipe_capacity::set(&there.write, requested_bytes)?;
    pipe_capacity::set(&back.write, requested_bytes)?;
    for end in [&there.read, &there.write, &back.read, &back.write] {
        set_blocking(end, setup.blocking)?;
    }
    Ok(Opened {
        sender: PipeEnd { read: back.read, write: there.write, nonblocking: None },
        receiver: PipeEnd { read: there.read, write: back.write, nonblocking: None },
        granted: Granted { kernel_buffer_bytes: capacity_bytes },
    })
}

/// Returns the end of one peer, which reads from one pipe and writes to another.
pub(super) fn own_endpoint(
    read: OwnedFd,
    write: OwnedFd,
    setup: &Setup<'_>,
) -> Result<(PipeEnd, Granted), Failure> {
    let kernel_buffer_bytes = pipe_capacity::set(&write, requested_capacity(setup)?)?;
    for end in [&read, &write] {
        set_blocking(end, setup.blocking)?;
    }
    Ok((PipeEnd { read, write, nonblocking: None }, Granted { kernel_buffer_bytes }))
}

/// Returns the option `capacity` if it is set, or else the capacity requested of every mechanism.
pub(super) fn requested_capacity(setup: &Setup<'_>) -> Result<Option<u64>, Failure> {
    match setup.option(&CAPACITY) {
        unset if unset == CAPACITY.default => Ok(setup.kernel_buffer_requested_bytes),
        bytes => bytes.parse().map(Some).map_err(|_| {
            Failure::new(FailureKind::SetUp, format!("capacity={bytes} is not a number of bytes"))
        }),
    }
}

fn set_blocking(descriptor: &OwnedFd, blocking: Blocking) -> Result<(), Failure> {
    rustix::io::ioctl_fionbio(descriptor, blocking == Blocking::Try)
        .map_err(|errno| setup_failure("ioctl(FIONBIO)", errno))
}
