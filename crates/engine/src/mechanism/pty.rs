//! `pty`: a pseudoterminal in raw mode.

use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode, Unavailable};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use super::setup_failure::setup_failure;
use crate::channel::{
    Blocking, Channel, Descriptors, Documentation, Endpoint, Granted, Mechanism, Opened, Setup,
};
use crate::worker;

/// Facts about `pty`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "pty",
    about: "pseudoterminal in raw mode",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::Yes,
    helper: Helper::KernelThread("kworker"),
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "The master and the terminal are the two sides of a pseudoterminal. A write \
            to the master copies the data into a buffer. A kernel worker (kworker, whose CPU time \
            is not counted) passes the data on to the line discipline, from which a read of the \
            terminal gets it. Data that is written to the terminal reaches the master in the same \
            way, through the master's line discipline. In raw mode there is no echo, no editing, \
            and no signals.",
        message_boundaries: "None: a read returns what has arrived, usually at most 4095 bytes.",
        minimum_kernel: "Linux 4.13 (TIOCGPTPEER, which opens the terminal without a path).",
        defaults_that_matter: "Each line discipline holds 4096 bytes (N_TTY_BUF_SIZE), and about 8 \
            KiB wait in front of it. Neither size can be set, so --kernel-buffer does not apply.",
        references: &["man:pty(7)", "man:termios(3)", "man:ioctl_tty(2)"],
    },
    availability: available,
    execute: worker::execute::<Pty>,
    ..Mechanism::BASE
};

/// Number of bytes that a line discipline holds.
const BUFFER_BYTES: u64 = 4096;

fn available() -> Result<(), Unavailable> {
    pair().map(drop).map_err(|errno| Unavailable {
        reason: format!("opening a pseudoterminal: {errno}"),
        remedy: "mount devpts on /dev/pts, with a ptmx that you may open".to_owned(),
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
        rustix::io::write(&self.terminal, bytes).map_err(hung_up)
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        rustix::io::read(&self.terminal, bytes).map_err(hung_up)
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        Some(Descriptors { read: self.terminal.as_fd(), write: self.terminal.as_fd() })
    }
}
