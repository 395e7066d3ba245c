//! `mmap-queue`: a queue of slots in shared memory, with a choice of locks and waits.

mod fcntl;
mod futex;
mod kernel;
mod mutex;
mod semaphore;
mod shared;
mod sysv_semaphore;

use std::sync::Arc;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::workload::Kind;
use ipcperf_model::{Failure, Mode, Report, RunSpec};
use rustix::io::Errno;
use shared::{Geometry, Shared, Side, View};

use super::refusal::refused;
use super::shm_ring::available;
use crate::channel::{
    Blocking, Channel, Documentation, Endpoint, Granted, Mechanism, Opened, OptionSpec,
    OptionValues, Setup,
};
use crate::payload::Way;
use crate::worker;

/// Option that selects the lock or the counters of the queue.
const WAIT: OptionSpec = OptionSpec {
    name: "wait",
    about: "what guards the queue, or counts its slots, and is waited for",
    values: OptionValues::OneOf(&[
        "futex",
        "fcntl-each",
        "fcntl-needed",
        "mutex",
        "posix-sem",
        "sysv-sem",
        "eventfd",
        "pipe",
    ]),
    default: "futex",
};

/// Facts about `mmap-queue`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "mmap-queue",
    about: "queue of slots in shared memory, one in each direction, with a choice of locks and waits",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Memory,
    waits: PeerWait::Chosen { option: WAIT.name, spins: &["fcntl-each", "fcntl-needed"] },
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::NotTold,
    unrelated: Unrelated::No("its memory is inherited or passed on"),
    helper: Helper::Nobody,
    options: &[WAIT],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A mapped memfd of 2 to 64 slots (256 KiB of them for small messages), each for \
            one message. wait=fcntl-each takes a record lock around each message, and where nothing \
            can move gives way (sched_yield) and takes it again: two calls for each message, two and \
            a yield for each look. fcntl-needed looks without the lock first, and takes it only to \
            look again. mutex: a robust mutex held around each message, and a condition. The others \
            count full and free slots: futex (a call only to sleep and to wake), posix-sem (likewise, \
            in the C library), sysv-sem (two calls for each message, and it sleeps in them), eventfd \
            (write and read for each message; a poll and a read more to sleep) and pipe (a byte for \
            each slot; write and read for each message). A set of System V semaphores outlives its \
            processes: the party that leaves first removes it, and the command once more.",
        message_boundaries: "Kept.",
        minimum_kernel: "Linux 3.17 (memfd_create); sysv-sem needs CONFIG_SYSVIPC.",
        defaults_that_matter: "Record locks are those of an open file (F_OFD_SETLKW, Linux 3.15), \
            since the older kind, which the whole process owns, would keep no thread from another; \
            one costs as much as the other. Whoever sleeps wakes every 100 ms to see whether the \
            other lives. Calls that the C library makes by itself (mutex, posix-sem) are counted \
            where they sleep, not where they wake. --kernel-buffer does not apply.",
        references: &[
            "man:fcntl_locking(2)",
            "man:pthread_mutexattr_setrobust(3)",
            "man:sem_overview(7)",
            "man:semop(2)",
            "man:eventfd(2)",
            "man:futex(2)",
        ],
    },
    availability: available,
    holds: |_| 4,
    execute,
    ..Mechanism::BASE
};

/// Selects the wait, once for the run.
fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> Report {
    match WAIT.chosen(&spec.options) {
        "fcntl-each" => worker::execute::<MmapQueue<fcntl::Each>>(spec, mechanism),
        "fcntl-needed" => worker::execute::<MmapQueue<fcntl::Needed>>(spec, mechanism),
        "mutex" => worker::execute::<MmapQueue<mutex::Mutex>>(spec, mechanism),
        "posix-sem" => worker::execute::<MmapQueue<Counts<semaphore::Semaphore>>>(spec, mechanism),
        "sysv-sem" => {
            worker::execute::<MmapQueue<Counts<sysv_semaphore::SysvSemaphore>>>(spec, mechanism)
        }
        "eventfd" => worker::execute::<MmapQueue<Counts<kernel::EventFd>>>(spec, mechanism),
        "pipe" => worker::execute::<MmapQueue<Counts<kernel::Pipe>>>(spec, mechanism),
        _ => worker::execute::<MmapQueue<Counts<futex::Futex>>>(spec, mechanism),
    }
}

/// Method by which one side of a queue waits for its turn and notifies the other side.
trait Wait: Send + Sized + 'static {
    /// Creates the producer's and the consumer's end.
    fn both(shared: &Arc<Shared>, blocking: Blocking) -> Result<[Self; 2], Errno>;

    /// Returns once a slot can be moved. `view` shows whether it can, and whether the other side is alive.
    ///
    /// # Errors
    /// `EAGAIN` if it may not block, `EPIPE` if the other side is gone.
    fn begin(&mut self, view: View<'_>) -> Result<(), Errno>;

    /// Reports that a slot has been moved.
    fn end(&mut self, view: View<'_>) -> Result<(), Errno>;

    /// Returns the number of system calls since the last query.
    fn take_calls(&mut self) -> u64;

    /// Removes objects that would outlive the processes; most methods have none.
    fn retire(&self) {}
}

/// A count of slots that one side increments and the other decrements.
trait Count: Send + Sized + 'static {
    /// Creates the end that increments the count and the end that decrements it. `line` is the index of the
    /// shared memory that it may use.
    fn ends(
        shared: &Arc<Shared>,
        line: usize,
        initial: u32,
        blocking: Blocking,
    ) -> Result<[Self; 2], Errno>;

    /// Increments the count; adds the system calls made to `calls`.
    fn raise(&self, calls: &mut u64) -> Result<(), Errno>;

    /// Decrements the count unless it is zero.
    fn try_lower(&self, calls: &mut u64) -> Result<bool, Errno>;

    /// Sleeps until the count may have been incremented or [`shared::SLICE`] has passed.
    fn sleep(&self, calls: &mut u64) -> Result<Slept, Errno>;

    /// Removes objects that would outlive the processes; most counts have none.
    fn retire(&self) {}
}

/// Outcome of a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slept {
    /// The sleep was interrupted or woken.
    Woken,
    /// The count was incremented, and the same call has decremented it again.
    Lowered,
    /// Nothing happened for [`shared::SLICE`].
    WholeSlice,
}

/// Returns [`shared::SLICE`] as a duration, or as an absolute time of `clock`.
fn slice_as(clock: Option<rustix::time::ClockId>) -> libc::timespec {
    let now = clock.map_or(rustix::time::Timespec::default(), rustix::time::clock_gettime);
    let nanoseconds = now.tv_nsec + i64::from(shared::SLICE.subsec_nanos());
    libc::timespec {
        tv_sec: now.tv_sec + nanoseconds / 1_000_000_000,
        tv_nsec: nanoseconds % 1_000_000_000,
    }
}

/// Wait that counts full and free slots.
struct Counts<C> {
    /// Count that this side decrements before each message.
    own: C,
    /// Count that this side increments after each message.
    others: C,
    blocking: Blocking,
    calls: u64,
}

impl<C: Count> Wait for Counts<C> {
    fn both(shared: &Arc<Shared>, blocking: Blocking) -> Result<[Self; 2], Errno> {
        let [fills, takes] = C::ends(shared, 0, 0, blocking)?;
        let [frees, uses] = C::ends(shared, 1, shared.geometry.slots, blocking)?;
        let side = |own, others| Self { own, others, blocking, calls: 0 };
        Ok([side(uses, fills), side(takes, frees)])
    }

    #[inline]
    fn begin(&mut self, view: View<'_>) -> Result<(), Errno> {
        loop {
            // Read this first: messages that were complete before the other side left still count.
            let closed = view.is_closed();
            if self.own.try_lower(&mut self.calls)? {
                return Ok(());
            }
            if self.blocking == Blocking::Try {
                return Err(Errno::AGAIN);
            }
            if closed {
                return Err(Errno::PIPE);
            }
            match self.own.sleep(&mut self.calls)? {
                Slept::Lowered => return Ok(()),
                Slept::WholeSlice if view.is_orphaned(&mut self.calls) => return Err(Errno::PIPE),
                Slept::WholeSlice | Slept::Woken => {}
            }
        }
    }

    #[inline]
    fn end(&mut self, _: View<'_>) -> Result<(), Errno> {
        self.others.raise(&mut self.calls)
    }

    fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }

    fn retire(&self) {
        self.own.retire();
        self.others.retire();
    }
}

struct MmapQueue<W>(std::marker::PhantomData<W>);

impl<W: Wait> Channel for MmapQueue<W> {
    type End = QueueEnd<W>;

    fn open(setup: &Setup<'_>) -> Result<Opened<QueueEnd<W>>, Failure> {
        let message_bytes = usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 4);
        // A stream sends nothing back, so two small slots are enough in that direction.
        let back_bytes = if setup.workload == Kind::Stream { 1 } else { message_bytes };
        let [there, arrives_there] = queue(message_bytes, Way::There, setup.blocking)?;
        let [back, arrives_back] = queue(back_bytes, Way::Back, setup.blocking)?;
        Ok(Opened {
            sender: QueueEnd { outgoing: there, incoming: arrives_back },
            receiver: QueueEnd { outgoing: back, incoming: arrives_there },
            granted: Granted::default(),
        })
    }
}

/// Creates a queue and returns the producer's and the consumer's half.
fn queue<W: Wait>(
    message_bytes: usize,
    way: Way,
    blocking: Blocking,
) -> Result<[Half<W>; 2], Failure> {
    let make = || {
        let shared = Arc::new(Shared::new(Geometry::of(message_bytes), way)?);
        let [produces, consumes] = W::both(&shared, blocking)?;
        let half =
            |wait, side| Half { shared: Arc::clone(&shared), wait, side, position: 0, armed: true };
        Ok([half(produces, Side::Producer), half(consumes, Side::Consumer)])
    };
    make().map_err(|errno| {
        let remedy = match errno {
            Errno::NOSPC => "raise kernel.sem with sysctl, or see ipcs -s",
            Errno::NOSYS => "choose a wait that this kernel has",
            _ => "free memory, or use smaller messages",
        };
        refused("making the queue", errno).with_remedy(remedy)
    })
}

/// One side of a queue.
struct Half<W: Wait> {
    shared: Arc<Shared>,
    wait: W,
    side: Side,
    /// Number of messages moved so far.
    position: u64,
    armed: bool,
}

impl<W: Wait> Half<W> {
    /// Moves one message: `copy` gets the queue and the number of the message.
    #[inline]
    fn turn<T>(&mut self, copy: impl FnOnce(&Shared, u64) -> Result<T, Errno>) -> Result<T, Errno> {
        let view = View::new(&self.shared, self.side, self.position);
        self.wait.begin(view)?;
        let copied = copy(&self.shared, self.position);
        if copied.is_ok() {
            self.position += 1;
            self.shared.publish(self.side, self.position);
        }
        self.wait.end(view)?;
        copied
    }
}

impl<W: Wait> Drop for Half<W> {
    fn drop(&mut self) {
        if self.armed {
            self.shared.close();
            self.wait.retire();
        }
    }
}

struct QueueEnd<W: Wait> {
    outgoing: Half<W>,
    incoming: Half<W>,
}

impl<W: Wait> Endpoint for QueueEnd<W> {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        for half in [&self.outgoing, &self.incoming] {
            half.shared.enter(half.side)?;
        }
        Ok(())
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.outgoing.turn(|shared, number| shared.write(number, bytes))?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        match self.incoming.turn(|shared, number| shared.read(number, bytes)) {
            Err(Errno::PIPE) => Ok(0),
            other => other,
        }
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(self.outgoing.wait.take_calls() + self.incoming.wait.take_calls())
    }

    fn disown(mut self) {
        self.outgoing.armed = false;
        self.incoming.armed = false;
    }
}
