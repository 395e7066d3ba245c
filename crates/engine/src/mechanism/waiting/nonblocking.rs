//! Ways to wait of ends that can be tried only if none of their calls sleeps: their descriptors are nonblocking, and a peer that
//! has to sleep does so in `poll` or `select`.

use ipcperf_model::Failure;
use ipcperf_model::wait::Wait;
use rustix::io::Errno;

use super::{Calls, Readiness, Spinning, Waiter, chosen};
use crate::channel::{Blocking, Endpoint, Setup};

/// Any of the ways to wait that need no rule of the mechanism.
#[derive(Clone, Copy, Debug)]
pub(in crate::mechanism) enum NonblockingWait {
    Ready(Readiness),
    /// By trying again and again; once its time is up, in `poll`.
    Spin(Spinning),
}

impl<E: Endpoint> Waiter<E> for NonblockingWait {
    fn new(setup: &Setup<'_>) -> Self {
        match chosen(setup) {
            Wait::Spin | Wait::SpinFor(_) => Self::Spin(Spinning::from_setup(setup)),
            _ => Self::Ready(<Readiness as Waiter<E>>::new(setup)),
        }
    }

    fn blocking(self) -> Blocking {
        Blocking::Try
    }

    fn prepare(self, _end: &mut E) -> Result<(), Failure> {
        Ok(())
    }

    #[inline]
    fn send(self, end: &mut E, bytes: &[u8], calls: &mut Calls) -> Result<usize, Errno> {
        let mut bytes = bytes;
        match self {
            Self::Ready(ready) => ready.send(end, bytes, calls),
            Self::Spin(spinning) => spinning.transfer(
                (end, &mut bytes),
                calls,
                |end: &mut E, bytes: &mut &[u8]| end.send(bytes),
                |end, bytes, calls| Readiness::Poll.send(end, bytes, calls),
            ),
        }
    }

    #[inline]
    fn recv(self, end: &mut E, bytes: &mut [u8], calls: &mut Calls) -> Result<usize, Errno> {
        match self {
            Self::Ready(ready) => ready.recv(end, bytes, calls),
            Self::Spin(spinning) => {
                spinning.transfer((end, bytes), calls, E::recv, |end, bytes, calls| {
                    Readiness::Poll.recv(end, bytes, calls)
                })
            }
        }
    }
}
