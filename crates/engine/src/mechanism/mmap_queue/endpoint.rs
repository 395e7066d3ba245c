//! Implementation of `mmap-queue`.

mod fcntl;
mod futex;
mod kernel_counters;
mod mutex;
mod semaphore;
mod shared;
mod sysv_semaphore;

use std::sync::Arc;

use ipcperf_model::{Failure, RunSpec, WorkerReport};
use rustix::io::Errno;

use super::LOCK;
use crate::channel::{Blocking, Channel, Endpoint, Granted, Mechanism, Opened, Setup};
use crate::mechanism::setup_failure::setup_failure;
use crate::payload_check::MessageDirection;
use crate::platform::memory::shared_memory_available;
use crate::worker;
use shared::{Geometry, QueueMemory, QueueSide, View};

/// The part of `mmap-queue` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: shared_memory_available,
    in_flight_messages: |_| 4,
    execute,
    ..Mechanism::BASE
};

/// Selects the wait, once for the run.
fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    match LOCK.chosen(&spec.options) {
        "fcntl-each" => worker::execute::<MmapQueue<fcntl::FcntlEach>>(spec, mechanism),
        "fcntl-needed" => worker::execute::<MmapQueue<fcntl::FcntlNeeded>>(spec, mechanism),
        "mutex" => worker::execute::<MmapQueue<mutex::RobustMutex>>(spec, mechanism),
        "posix-sem" => {
            worker::execute::<MmapQueue<CountingWait<semaphore::PosixSemaphore>>>(spec, mechanism)
        }
        "sysv-sem" => worker::execute::<MmapQueue<CountingWait<sysv_semaphore::SysvSemaphore>>>(
            spec, mechanism,
        ),
        "eventfd" => worker::execute::<MmapQueue<CountingWait<kernel_counters::EventfdCount>>>(
            spec, mechanism,
        ),
        "pipe" => {
            worker::execute::<MmapQueue<CountingWait<kernel_counters::PipeCount>>>(spec, mechanism)
        }
        _ => worker::execute::<MmapQueue<CountingWait<futex::FutexCount>>>(spec, mechanism),
    }
}

/// Method by which one side of a queue waits for its turn and notifies the other side.
trait Wait: Send + Sized + 'static {
    /// Creates the producer's and the consumer's end.
    fn pair(shared: &Arc<QueueMemory>, blocking: Blocking) -> Result<[Self; 2], Errno>;

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
    fn remove(&self) {}
}

/// A count of slots that one side increments and the other decrements.
trait Count: Send + Sized + 'static {
    /// Creates the end that increments the count and the end that decrements it. `line` is the index of the
    /// shared memory that it may use.
    fn ends(
        shared: &Arc<QueueMemory>,
        line: usize,
        initial: u32,
        blocking: Blocking,
    ) -> Result<[Self; 2], Errno>;

    /// Increments the count; adds the system calls made to `calls`.
    fn increment(&self, calls: &mut u64) -> Result<(), Errno>;

    /// Decrements the count unless it is zero.
    fn try_decrement(&self, calls: &mut u64) -> Result<bool, Errno>;

    /// Sleeps until the count may have been incremented or [`shared::LIVENESS_INTERVAL`] has passed.
    fn sleep(&self, calls: &mut u64) -> Result<SleepOutcome, Errno>;

    /// Removes objects that would outlive the processes; most counts have none.
    fn remove(&self) {}
}

/// Outcome of a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SleepOutcome {
    /// The sleep was interrupted or woken.
    Woken,
    /// The count was incremented, and the same call has decremented it again.
    Decremented,
    /// Nothing happened for [`shared::LIVENESS_INTERVAL`].
    TimedOut,
}

/// Returns [`shared::LIVENESS_INTERVAL`] as a duration, or as an absolute time of `clock`.
fn liveness_timespec(clock: Option<rustix::time::ClockId>) -> libc::timespec {
    let now = clock.map_or(rustix::time::Timespec::default(), rustix::time::clock_gettime);
    let nanoseconds = now.tv_nsec + i64::from(shared::LIVENESS_INTERVAL.subsec_nanos());
    libc::timespec {
        tv_sec: now.tv_sec + nanoseconds / 1_000_000_000,
        tv_nsec: nanoseconds % 1_000_000_000,
    }
}

/// Wait that counts full and free slots.
struct CountingWait<C> {
    /// Count that this side decrements before each message.
    own_count: C,
    /// Count that this side increments after each message.
    peer_count: C,
    blocking: Blocking,
    calls: u64,
}

impl<C: Count> Wait for CountingWait<C> {
    fn pair(shared: &Arc<QueueMemory>, blocking: Blocking) -> Result<[Self; 2], Errno> {
        let [fills, takes] = C::ends(shared, 0, 0, blocking)?;
        let [frees, uses] = C::ends(shared, 1, shared.geometry.slots, blocking)?;
        let side = |own, others| Self { own_count: own, peer_count: others, blocking, calls: 0 };
        Ok([side(uses, fills), side(takes, frees)])
    }

    #[inline]
    fn begin(&mut self, view: View<'_>) -> Result<(), Errno> {
        loop {
            // Read this first: messages that were complete before the other side left still count.
            let closed = view.is_closed();
            if self.own_count.try_decrement(&mut self.calls)? {
                return Ok(());
            }
            if self.blocking == Blocking::Try {
                return Err(Errno::AGAIN);
            }
            if closed {
                return Err(Errno::PIPE);
            }
            match self.own_count.sleep(&mut self.calls)? {
                SleepOutcome::Decremented => return Ok(()),
                SleepOutcome::TimedOut if view.is_orphaned(&mut self.calls) => {
                    return Err(Errno::PIPE);
                }
                SleepOutcome::TimedOut | SleepOutcome::Woken => {}
            }
        }
    }

    #[inline]
    fn end(&mut self, _: View<'_>) -> Result<(), Errno> {
        self.peer_count.increment(&mut self.calls)
    }

    fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }

    fn remove(&self) {
        self.own_count.remove();
        self.peer_count.remove();
    }
}

struct MmapQueue<W>(std::marker::PhantomData<W>);

impl<W: Wait> Channel for MmapQueue<W> {
    type End = MmapQueueEnd<W>;

    fn open(setup: &Setup<'_>) -> Result<Opened<MmapQueueEnd<W>>, Failure> {
        let message_bytes = usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 4);
        // A stream sends nothing back, so two small slots are enough in that direction.
        let back_bytes = if !setup.workload.is_answered() { 1 } else { message_bytes };
        let [there, arrives_there] =
            queue(message_bytes, MessageDirection::Forward, setup.blocking)?;
        let [back, arrives_back] = queue(back_bytes, MessageDirection::Reverse, setup.blocking)?;
        Ok(Opened {
            sender: MmapQueueEnd { outgoing: there, incoming: arrives_back },
            receiver: MmapQueueEnd { outgoing: back, incoming: arrives_there },
            granted: Granted::default(),
        })
    }
}

/// Creates a queue and returns the producer's and the consumer's half.
fn queue<W: Wait>(
    message_bytes: usize,
    way: MessageDirection,
    blocking: Blocking,
) -> Result<[QueueHalf<W>; 2], Failure> {
    let make = || {
        let shared = Arc::new(QueueMemory::new(Geometry::from_message_bytes(message_bytes), way)?);
        let [produces, consumes] = W::pair(&shared, blocking)?;
        let half = |wait, side| QueueHalf {
            shared: Arc::clone(&shared),
            wait,
            side,
            position: 0,
            closes_on_drop: true,
        };
        Ok([half(produces, QueueSide::Producer), half(consumes, QueueSide::Consumer)])
    };
    make().map_err(|errno| {
        let remedy = match errno {
            Errno::NOSPC => "raise kernel.sem with sysctl, or free semaphores (see ipcs -s)",
            Errno::NOSYS => "choose a value of lock that this kernel supports",
            _ => "free memory, or use smaller messages",
        };
        setup_failure("creating the queue", errno).with_remedy(remedy)
    })
}

/// One side of a queue.
struct QueueHalf<W: Wait> {
    shared: Arc<QueueMemory>,
    wait: W,
    side: QueueSide,
    /// Number of messages moved so far.
    position: u64,
    closes_on_drop: bool,
}

impl<W: Wait> QueueHalf<W> {
    /// Moves one message: `copy` gets the queue and the number of the message.
    #[inline]
    fn transfer<T>(
        &mut self,
        copy: impl FnOnce(&QueueMemory, u64) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
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

impl<W: Wait> Drop for QueueHalf<W> {
    fn drop(&mut self) {
        if self.closes_on_drop {
            self.shared.close();
            self.wait.remove();
        }
    }
}

struct MmapQueueEnd<W: Wait> {
    outgoing: QueueHalf<W>,
    incoming: QueueHalf<W>,
}

impl<W: Wait> Endpoint for MmapQueueEnd<W> {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        for half in [&self.outgoing, &self.incoming] {
            half.shared.register(half.side)?;
        }
        Ok(())
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.outgoing.transfer(|shared, number| shared.write(number, bytes))?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        match self.incoming.transfer(|shared, number| shared.read(number, bytes)) {
            Err(Errno::PIPE) => Ok(0),
            other => other,
        }
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(self.outgoing.wait.take_calls() + self.incoming.wait.take_calls())
    }

    fn close_after_fork(mut self) {
        self.outgoing.closes_on_drop = false;
        self.incoming.closes_on_drop = false;
    }
}
