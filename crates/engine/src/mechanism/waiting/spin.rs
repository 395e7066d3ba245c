//! Waiting by trying again and again: for ever, or for some time before the peer blocks.

use std::hint::spin_loop;
use std::time::Duration;

use ipcperf_model::Failure;
use ipcperf_model::wait::Wait;
use rustix::io::Errno;

use super::{Calls, Readiness, Waiter, chosen};
use crate::channel::{Blocking, Endpoint, PeerPlacement, Setup};
use crate::clock::now_ns;
use crate::platform::read_write;

/// End that can also transfer without sleeping, although its calls block.
pub(in crate::mechanism) trait TryTransfer: Endpoint {
    /// Prepares tries, before the fork.
    ///
    /// # Errors
    /// Returns a set-up failure if the system cannot try transfers.
    fn prepare_tries(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Sends like [`Endpoint::send`], or returns `EAGAIN` if that would sleep. By default, the descriptor is a socket.
    ///
    /// # Errors
    /// Returns the error of the call.
    #[inline]
    fn try_send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        read_write::try_send(&self.descriptors().ok_or(Errno::OPNOTSUPP)?.write, bytes)
    }

    /// Receives like [`Endpoint::recv`], or returns `EAGAIN` if that would sleep. By default, the descriptor is a socket.
    ///
    /// # Errors
    /// Returns the error of the call.
    #[inline]
    fn try_recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        read_write::try_recv(&self.descriptors().ok_or(Errno::OPNOTSUPP)?.read, bytes)
    }
}

/// Time for which a peer tries, and the pause between two tries.
#[derive(Clone, Copy, Debug)]
pub(in crate::mechanism) struct Spinning {
    /// Time after which the peer blocks; `None` for never.
    window: Option<Duration>,
    pause: Pause,
}

/// Pause of a peer between two tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    /// The instruction for CPUs in a loop that waits.
    SpinLoop,
    /// Lets other threads run: a peer that spins on the CPU of the other one would keep it from running.
    Yield,
}

impl Spinning {
    /// Returns the spinning that the options of `setup` select.
    pub(super) fn from_setup(setup: &Setup<'_>) -> Self {
        let window = match chosen(setup) {
            Wait::SpinFor(window) => Some(window),
            _ => None,
        };
        let pause = match setup.placement {
            PeerPlacement::OneCpu => Pause::Yield,
            PeerPlacement::SeparateCpus | PeerPlacement::Unpinned => Pause::SpinLoop,
        };
        Self { window, pause }
    }

    /// Tries to transfer `bytes` from or to `end` with `attempt`. Once the time is up, calls `block`, which adds to `calls`.
    #[inline]
    pub(super) fn transfer<E, B: ?Sized>(
        self,
        (end, bytes): (&mut E, &mut B),
        calls: &mut Calls,
        attempt: impl Fn(&mut E, &mut B) -> Result<usize, Errno>,
        block: impl Fn(&mut E, &mut B, &mut Calls) -> Result<usize, Errno>,
    ) -> Result<usize, Errno> {
        calls.transfers += 1;
        match attempt(end, bytes) {
            Err(Errno::AGAIN) => {}
            moved => return moved,
        }
        let begin_ns = now_ns();
        loop {
            match self.pause {
                Pause::SpinLoop => spin_loop(),
                Pause::Yield => {
                    calls.waits += 1;
                    std::thread::yield_now();
                }
            }
            calls.transfers += 1;
            match attempt(end, bytes) {
                Err(Errno::AGAIN) => {}
                moved => return moved,
            }
            if self.window.is_some_and(|window| is_over(begin_ns, window)) {
                return block(end, bytes, calls);
            }
        }
    }
}

#[inline]
fn is_over(begin_ns: u64, window: Duration) -> bool {
    u128::from(now_ns().saturating_sub(begin_ns)) >= window.as_nanos()
}

/// Any of the ways to wait that need no rule of the mechanism.
#[derive(Clone, Copy, Debug)]
pub(in crate::mechanism) enum AnyWait {
    Ready(Readiness),
    Spin(Spinning),
}

impl<E: TryTransfer> Waiter<E> for AnyWait {
    fn new(setup: &Setup<'_>) -> Self {
        match chosen(setup) {
            Wait::Spin | Wait::SpinFor(_) => Self::Spin(<Spinning as Waiter<E>>::new(setup)),
            _ => Self::Ready(<Readiness as Waiter<E>>::new(setup)),
        }
    }

    fn blocking(self) -> Blocking {
        match self {
            Self::Ready(ready) => <Readiness as Waiter<E>>::blocking(ready),
            Self::Spin(spinning) => <Spinning as Waiter<E>>::blocking(spinning),
        }
    }

    fn prepare(self, end: &mut E) -> Result<(), Failure> {
        match self {
            Self::Ready(ready) => ready.prepare(end),
            Self::Spin(spinning) => spinning.prepare(end),
        }
    }

    #[inline]
    fn send(self, end: &mut E, bytes: &[u8], calls: &mut Calls) -> Result<usize, Errno> {
        match self {
            Self::Ready(ready) => ready.send(end, bytes, calls),
            Self::Spin(spinning) => spinning.send(end, bytes, calls),
        }
    }

    #[inline]
    fn recv(self, end: &mut E, bytes: &mut [u8], calls: &mut Calls) -> Result<usize, Errno> {
        match self {
            Self::Ready(ready) => ready.recv(end, bytes, calls),
            Self::Spin(spinning) => spinning.recv(end, bytes, calls),
        }
    }
}

impl<E: TryTransfer> Waiter<E> for Spinning {
    fn new(setup: &Setup<'_>) -> Self {
        Self::from_setup(setup)
    }

    fn blocking(self) -> Blocking {
        Blocking::Wait
    }

    fn prepare(self, end: &mut E) -> Result<(), Failure> {
        end.prepare_tries()
    }

    #[inline]
    fn send(self, end: &mut E, bytes: &[u8], calls: &mut Calls) -> Result<usize, Errno> {
        let mut bytes = bytes;
        let attempt = |end: &mut E, bytes: &mut &[u8]| end.try_send(bytes);
        self.transfer((end, &mut bytes), calls, attempt, |end, bytes, calls| {
            calls.transfers += 1;
            end.send(bytes)
        })
    }

    #[inline]
    fn recv(self, end: &mut E, bytes: &mut [u8], calls: &mut Calls) -> Result<usize, Errno> {
        let attempt = |end: &mut E, bytes: &mut [u8]| end.try_recv(bytes);
        self.transfer((end, bytes), calls, attempt, |end, bytes, calls| {
            calls.transfers += 1;
            end.recv(bytes)
        })
    }
}
