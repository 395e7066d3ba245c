//! Endpoints made of one descriptor to read from and one to write to: pipes and FIFOs.

use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::{Failure, FailureKind};
use rustix::io::Errno;

use super::pipe_capacity;
use super::setup_failure::setup_failure;
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

/// The two descriptors of one direction.
#[derive(Debug)]
pub(super) struct PipeFds {
    pub(super) read: OwnedFd,
    pub(super) write: OwnedFd,
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
        sender: PipeEnd { read: back.read, write: there.write },
        receiver: PipeEnd { read: there.read, write: back.write },
        granted: Granted { kernel_buffer_bytes: capacity_bytes },
    })
}

/// Returns the option `capacity` if it is set, or else the capacity requested of every mechanism.
fn requested_capacity(setup: &Setup<'_>) -> Result<Option<u64>, Failure> {
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
