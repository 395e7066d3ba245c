//! Endpoints that wait for readiness before each transfer, as programs with several descriptors do.

#[cfg(target_os = "linux")]
mod select;

use std::marker::PhantomData;
use std::os::fd::BorrowedFd;

use ipcperf_model::{Failure, Mode, RunSpec, WorkerReport};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::channel::{
    Blocking, Channel, Descriptors, Endpoint, Mechanism, Opened, OptionSpec, OptionValues, Setup,
};
use crate::worker;

#[cfg(target_os = "linux")]
pub(super) use select::Select;

/// Option of mechanisms that can wait in `poll`.
pub(super) const WAIT: OptionSpec = OptionSpec {
    name: "wait",
    about: "block: wait in the read or write itself; poll: wait in poll before each read and \
        write. No effect in mode 1thread",
    values: OptionValues::OneOf(&["block", "poll"]),
    default: "block",
};

/// Option of mechanisms that can wait in `select`.
pub(super) const WAIT_SELECT: OptionSpec = OptionSpec {
    name: "wait",
    about: "block: wait in the send or receive itself; select: wait in select before each send and \
        receive. No effect in mode 1thread",
    values: OptionValues::OneOf(&["block", "select"]),
    default: "block",
};

/// Runs one case of `C` that waits as its option says: with `A` unless it is `block`. In one thread the calls
/// of `C` never block, whatever the option says.
pub(super) fn execute<C: Channel, A: ReadinessCall>(
    spec: &RunSpec,
    mechanism: &Mechanism<'_>,
) -> WorkerReport {
    match WAIT.chosen(&spec.options) {
        "block" => worker::execute::<C>(spec, mechanism),
        _ if spec.mode == Mode::OneThread => worker::execute::<C>(spec, mechanism),
        _ => worker::execute::<PolledChannel<C, A>>(spec, mechanism),
    }
}

/// System call that sleeps until a descriptor is ready.
pub(super) trait ReadinessCall: Send + 'static {
    /// Sleeps until there is data to read or the other side is gone.
    fn wait_readable(descriptor: BorrowedFd<'_>) -> Result<(), Errno>;
    /// Sleeps until there is room to write or the other side is gone.
    fn wait_writable(descriptor: BorrowedFd<'_>) -> Result<(), Errno>;
}

/// Waits with `poll`.
#[derive(Debug)]
pub(super) struct Poll;

impl ReadinessCall for Poll {
    #[inline]
    fn wait_readable(descriptor: BorrowedFd<'_>) -> Result<(), Errno> {
        poll(&mut [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)], None).map(drop)
    }

    #[inline]
    fn wait_writable(descriptor: BorrowedFd<'_>) -> Result<(), Errno> {
        poll(&mut [PollFd::from_borrowed_fd(descriptor, PollFlags::OUT)], None).map(drop)
    }
}

/// `C` with nonblocking descriptors, and a call of `A` before each transfer.
struct PolledChannel<C, A>(PhantomData<(C, A)>);

impl<C: Channel, A: ReadinessCall> Channel for PolledChannel<C, A> {
    type End = PolledEnd<C::End, A>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let Opened { sender, receiver, granted } =
            C::open(&Setup { blocking: Blocking::Try, ..*setup })?;
        let asking = |end| PolledEnd { end, calls: 0, method: PhantomData };
        Ok(Opened { sender: asking(sender), receiver: asking(receiver), granted })
    }
}

#[derive(Debug)]
struct PolledEnd<E, A> {
    end: E,
    /// Number of calls of `A`, and of transfers if `E` makes one call for each.
    calls: u64,
    method: PhantomData<A>,
}

impl<E: Endpoint, A: ReadinessCall> PolledEnd<E, A> {
    /// Waits, then transfers; repeats if the room or the data is gone by then.
    #[inline]
    fn wait_and_transfer<T>(
        &mut self,
        ask: impl Fn(Descriptors<'_>) -> Result<(), Errno>,
        mut transfer: impl FnMut(&mut E) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        loop {
            self.calls += 1;
            ask(self.end.descriptors().ok_or(Errno::OPNOTSUPP)?)?;
            self.calls += 1;
            match transfer(&mut self.end) {
                Err(Errno::AGAIN) => {}
                moved => return moved,
            }
        }
    }
}

impl<E: Endpoint, A: ReadinessCall> Endpoint for PolledEnd<E, A> {
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
        self.wait_and_transfer(
            |descriptors| A::wait_writable(descriptors.write),
            |end| end.send(bytes),
        )
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.wait_and_transfer(
            |descriptors| A::wait_readable(descriptors.read),
            |end| end.recv(bytes),
        )
    }

    fn take_calls(&mut self) -> Option<u64> {
        let all = std::mem::take(&mut self.calls);
        // If the endpoint counts its own calls, half of the count here is its transfers.
        Some(self.end.take_calls().map_or(all, |own| own + all / 2))
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
