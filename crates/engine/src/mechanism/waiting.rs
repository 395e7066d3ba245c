//! Endpoints that wait in another way than in the transfer itself: until their descriptor is ready, as programs with several
//! descriptors do, or by trying again and again, as programs do that have a CPU to spare.

#[cfg(target_os = "linux")]
mod nonblocking;
mod readiness;
#[cfg(target_os = "linux")]
mod select;
mod spin;

use std::fmt::Debug;
use std::marker::PhantomData;

use ipcperf_model::mechanism::PeerWait;
use ipcperf_model::wait::Wait;
use ipcperf_model::{Failure, Mode, RunSpec, WorkerReport};
use rustix::io::Errno;

use crate::channel::{
    Blocking, Channel, Descriptors, Endpoint, Granted, Mechanism, Meet, Meeting, Opened,
    OptionSpec, OptionValues, ProgramPart, ProgramReport, Setup,
};
use crate::worker;

#[cfg(target_os = "linux")]
pub(super) use nonblocking::NonblockingWait;
pub(super) use readiness::Readiness;
pub(super) use spin::{AnyWait, Spinning, TryTransfer};

/// Option of mechanisms that can wait in every way but `adaptive`, which needs a rule of the mechanism.
pub(super) const WAIT: OptionSpec = OptionSpec {
    name: NAME,
    about: "how a peer waits for the other one: in the read or write itself (block), in poll or select before each \
        of them, by trying again and again (spin), or by trying for some time and then blocking (spin:20us). If both \
        peers share a CPU, a peer yields it between two tries. No effect in mode 1thread",
    #[cfg(target_os = "linux")]
    values: OptionValues::Waits(&["block", "poll", "select", "spin"]),
    #[cfg(not(target_os = "linux"))]
    values: OptionValues::Waits(&["block", "poll"]),
    default: "block",
};

/// Option of mechanisms whose ends have no descriptors to wait for: slots in shared memory and System V queues.
pub(super) const WAIT_SPIN: OptionSpec = OptionSpec {
    name: NAME,
    about: "how a peer waits for the other one: in a call that sleeps (block), by trying again and again (spin), or by \
        trying for some time and then sleeping (spin:20us). If both peers share a CPU, a peer yields it between two \
        tries. No effect in mode 1thread",
    values: OptionValues::Waits(&["block", "spin"]),
    default: "block",
};

/// The same, of mechanisms that can be tried only if none of their calls sleeps. They need Linux.
pub(super) const WAIT_NONBLOCKING: OptionSpec = OptionSpec {
    name: NAME,
    about: "how a peer waits for the other one: in the send or receive itself (block), in poll or select before each of \
        them, by trying again and again (spin), or by trying for some time and then sleeping in poll (spin:20us). If both \
        peers share a CPU, a peer yields it between two tries. No effect in mode 1thread",
    values: OptionValues::Waits(&["block", "poll", "select", "spin"]),
    default: "block",
};

/// Fact about mechanisms with the option [`WAIT`] or [`WAIT_SPIN`].
pub(super) const WAITS: PeerWait = PeerWait::ByOption { option: NAME, spins: &["spin"] };

const NAME: &str = "wait";

/// Returns the way to wait that the options of `setup` select. They were checked before.
pub(super) fn chosen(setup: &Setup<'_>) -> Wait {
    setup.option(&WAIT).parse().unwrap_or(Wait::Block)
}

/// Runs one case of `C` that waits as its option says: with `W` unless it blocks. In one thread the calls of `C` never
/// block, whatever the option says.
pub(super) fn execute<C: Channel, W: Waiter<C::End>>(
    spec: &RunSpec,
    mechanism: &Mechanism<'_>,
) -> WorkerReport {
    match WAIT.chosen(&spec.options).parse() {
        Ok(Wait::Block) | Err(_) => worker::execute::<C>(spec, mechanism),
        Ok(_) if spec.mode == Mode::OneThread => worker::execute::<C>(spec, mechanism),
        Ok(_) => worker::execute::<WaitingChannel<C, W>>(spec, mechanism),
    }
}

/// Runs one peer of `C` in a separate program, which waits as its option says: see [`execute`].
pub(super) fn meet<C: Meet, W: Waiter<C::End>>(
    spec: &RunSpec,
    mechanism: &Mechanism<'_>,
    program: &ProgramPart,
) -> Result<ProgramReport, Failure> {
    match WAIT.chosen(&spec.options).parse() {
        Ok(Wait::Block) | Err(_) => worker::meet::<C>(spec, mechanism, program),
        Ok(_) => worker::meet::<WaitingChannel<C, W>>(spec, mechanism, program),
    }
}

/// Way to wait for the room for a message, or for a message, of ends of type `E`.
pub(super) trait Waiter<E>: Copy + Debug + Send + 'static {
    /// Creates the way that the options of `setup` select.
    fn new(setup: &Setup<'_>) -> Self;

    /// Whether the calls of the end may sleep.
    fn blocking(self) -> Blocking;

    /// Prepares `end` for waiting in this way, before the fork.
    ///
    /// # Errors
    /// Returns a set-up failure if the system cannot do that.
    fn prepare(self, end: &mut E) -> Result<(), Failure>;

    /// Waits and sends; adds to `calls`.
    fn send(self, end: &mut E, bytes: &[u8], calls: &mut Calls) -> Result<usize, Errno>;

    /// Waits and receives; adds to `calls`.
    fn recv(self, end: &mut E, bytes: &mut [u8], calls: &mut Calls) -> Result<usize, Errno>;
}

/// Numbers of calls.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Calls {
    /// System calls that only wait.
    waits: u64,
    /// Transfers and tries. Unless the end counts its own system calls, each is one.
    transfers: u64,
}

/// `C`, whose ends wait with `W`.
struct WaitingChannel<C, W>(PhantomData<(C, W)>);

impl<C: Channel, W: Waiter<C::End>> Channel for WaitingChannel<C, W> {
    type End = WaitingEnd<C::End, W>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let waiter = W::new(setup);
        let Opened { sender, receiver, granted } =
            C::open(&Setup { blocking: waiter.blocking(), ..*setup })?;
        let waiting = |mut end| {
            waiter.prepare(&mut end)?;
            Ok(WaitingEnd { end, waiter, calls: Calls::default() })
        };
        Ok(Opened { sender: waiting(sender)?, receiver: waiting(receiver)?, granted })
    }
}

impl<C: Meet, W: Waiter<C::End>> Meet for WaitingChannel<C, W> {
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure> {
        let waiter = W::new(setup);
        let (mut end, granted) =
            C::meet(&Setup { blocking: waiter.blocking(), ..*setup }, meeting)?;
        waiter.prepare(&mut end)?;
        Ok((WaitingEnd { end, waiter, calls: Calls::default() }, granted))
    }
}

/// Asserts that ends of `C` whose calls block can be tried without blocking.
#[cfg(test)]
pub(super) fn assert_tries_return<C: Channel>()
where
    C::End: TryTransfer,
{
    let options = std::collections::BTreeMap::new();
    let setup = Setup { blocking: Blocking::Wait, ..Setup::with_options(&options) };
    let Opened { mut sender, mut receiver, .. } = C::open(&setup).unwrap();
    for end in [&mut sender, &mut receiver] {
        end.prepare().unwrap();
        end.prepare_tries().unwrap();
    }
    let bytes = usize::try_from(setup.buffer_bytes).unwrap();
    let (message, mut got) = (vec![7; bytes], vec![0; bytes]);
    assert_eq!(receiver.try_recv(&mut got), Err(Errno::AGAIN));
    let sent = (0..1_000_000).find(|_| sender.try_send(&message) == Err(Errno::AGAIN));
    for _ in 0..sent.expect("a full channel") {
        assert_eq!(receiver.try_recv(&mut got), Ok(bytes));
        assert_eq!(got, message);
    }
    assert_eq!(receiver.try_recv(&mut got), Err(Errno::AGAIN));
}

#[derive(Debug)]
struct WaitingEnd<E, W> {
    end: E,
    waiter: W,
    calls: Calls,
}

impl<E: Endpoint, W: Waiter<E>> Endpoint for WaitingEnd<E, W> {
    const KEEPS_BOUNDARIES: bool = E::KEEPS_BOUNDARIES;
    const LOSSY: bool = E::LOSSY;
    const BORROWS_SEND_BUFFER: bool = E::BORROWS_SEND_BUFFER;
    const COUNTS_CALLS: bool = E::COUNTS_CALLS;

    fn send_buffers_needed(&self) -> usize {
        self.end.send_buffers_needed()
    }

    fn prepare(&mut self) -> Result<(), Errno> {
        self.end.prepare()
    }

    fn register_buffers(&mut self, buffers: &[&[u8]]) -> Result<(), Errno> {
        self.end.register_buffers(buffers)
    }

    fn flush(&mut self) -> Result<(), Errno> {
        self.end.flush()
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.waiter.send(&mut self.end, bytes, &mut self.calls)
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.waiter.recv(&mut self.end, bytes, &mut self.calls)
    }

    fn take_calls(&mut self) -> Option<u64> {
        let Calls { waits, transfers } = std::mem::take(&mut self.calls);
        Some(waits + self.end.take_calls().unwrap_or(transfers))
    }

    fn drain(&mut self) {
        self.end.drain();
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        self.end.descriptors()
    }

    fn close_after_fork(self) {
        self.end.close_after_fork();
    }
}
