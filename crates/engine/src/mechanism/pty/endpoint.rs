//! Implementation of `pty`.

use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::{Failure, Unavailable};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use crate::channel::{Blocking, Channel, Descriptors, Endpoint, Granted, Mechanism, Opened, Setup};
use crate::mechanism::setup_failure::setup_failure;
use crate::mechanism::waiting::{self, NonblockingWait};
use crate::platform::read_write;

/// The part of `pty` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: available,
    execute: waiting::execute::<Pty, NonblockingWait>,
    ..Mechanism::BASE
};

/// Number of bytes that a line discipline holds.
const BUFFER_BYTES: u64 = 4096;

fn available() -> Result<(), Unavailable> {
    pair().map(drop).map_err(|errno| Unavailable {
        reason: format!("opening a pseudoterminal: {errno}"),
        remedy: "mount devpts on /dev/pts, and allow this user to open its ptmx".to_owned(),
    })
}

/// Creates a master and its terminal in raw mode.
fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let terminal = ioctl_tiocgptpeer(&master, flags)?;
    let mut attributes = tcgetattr(&terminal)?;
    attributes.make_raw();
    tcsetattr(&terminal, OptionalActions::Now, &attributes)?;
    Ok((master, terminal))
}

struct Pty;

impl Channel for Pty {
    type End = PtyEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<PtyEnd>, Failure> {
        let (master, terminal) = pair().map_err(|e| {
            setup_failure("opening a pseudoterminal", e)
                .with_remedy("raise kernel.pty.max with sysctl")
        })?;
        for end in [&master, &terminal] {
            rustix::io::ioctl_fionbio(end, setup.blocking == Blocking::Try)
                .map_err(|e| setup_failure("ioctl(FIONBIO)", e))?;
        }
        Ok(Opened {
            sender: PtyEnd { terminal: master },
            receiver: PtyEnd { terminal },
            granted: Granted { kernel_buffer_bytes: Some(BUFFER_BYTES) },
        })
    }
}

#[derive(Debug)]
struct PtyEnd {
    terminal: OwnedFd,
}

/// Maps `EIO`, which a side gets once the other side is closed, to `EPIPE`.
fn hung_up(errno: Errno) -> Errno {
    if errno == Errno::IO { Errno::PIPE } else { errno }
}

impl Endpoint for PtyEnd {
    const KEEPS_BOUNDARIES: bool = false;

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        read_write::write(&self.terminal, bytes).map_err(hung_up)
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        read_write::read(&self.terminal, bytes).map_err(hung_up)
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        Some(Descriptors { read: self.terminal.as_fd(), write: self.terminal.as_fd() })
    }
}
