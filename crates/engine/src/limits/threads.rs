//! Threads for work that must run on certain CPUs: the caller keeps its affinity, and no thread outlives the call.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope, ScopedJoinHandle, scope};
use std::time::Duration;

use rustix::io::Errno;

use super::error::LimitError;
use crate::placement::pin;
use crate::thread_room::check_thread_room;

/// A measurement by a leader and a follower, each on its CPU.
pub(super) trait PairMeasurement: Sync {
    /// Result of the leader.
    type Output: Send;

    /// Measures, against a follower that answers.
    ///
    /// # Errors
    /// Returns the error of a call that the system refused.
    fn lead(&self) -> Result<Self::Output, LimitError>;

    /// Answers until the measurement ends.
    fn follow(&self);

    /// Ends the measurement for both threads, whatever they are doing; may be called at any time, and more than once.
    fn stop(&self);
}

/// Runs `work` on a new thread, pinned to `cpu` if the system allows it: without a partner, the result does not depend
/// on the CPU.
///
/// # Errors
/// Returns an error if no thread could be started, or the error of `work`.
pub(super) fn run_pinned<T: Send>(
    cpu: u32,
    work: impl FnOnce() -> Result<T, LimitError> + Send,
) -> Result<T, LimitError> {
    scope(|scope| {
        let pinned_work = move || {
            let _ = pin(cpu);
            work()
        };
        join(spawn(scope, pinned_work)?)
    })
}

/// Runs `duet` on `cpus`, the leader's and the follower's, and returns the leader's result. The calling thread stops
/// the duet after `timeout`, so that its two threads can wait for each other without a limit.
///
/// # Errors
/// Returns an error if a thread or CPU was refused, or the leader's error.
pub(super) fn run_pair<D: PairMeasurement>(
    cpus: [u32; 2],
    timeout: Duration,
    duet: &D,
) -> Result<D::Output, LimitError> {
    scope(|scope| {
        let ((ready, is_ready), (go, begins), (done, is_done)) = (channel(), channel(), channel());
        let follower = spawn(scope, move || follow(cpus[1], duet, &ready, &begins))?;
        // The leader drops `go` and `done` when it ends, and also if it is never started.
        let leader = spawn(scope, move || {
            let measured = lead(cpus[0], duet, &is_ready, &go);
            duet.stop();
            drop(done);
            measured
        })?;
        // No value is ever sent: this returns when the leader drops its side, or at the time limit.
        let _: Result<(), _> = is_done.recv_timeout(timeout);
        duet.stop();
        // Join explicitly: the scope waits only for the follower's closure to return, not for the thread to end.
        join(follower);
        join(leader)
    })
}

type PinResult = Result<(), LimitError>;

fn lead<D: PairMeasurement>(
    cpu: u32,
    duet: &D,
    is_ready: &Receiver<PinResult>,
    go: &Sender<()>,
) -> Result<D::Output, LimitError> {
    pin_to(cpu)?;
    // A follower always reports whether it is ready, and then waits for the start.
    if let Ok(follower) = is_ready.recv() {
        follower?;
    }
    let _ = go.send(());
    duet.lead()
}

fn follow(cpu: u32, duet: &impl PairMeasurement, ready: &Sender<PinResult>, begins: &Receiver<()>) {
    let is_pinned = pin_to(cpu);
    let follows = is_pinned.is_ok();
    let has_heard = ready.send(is_pinned).is_ok();
    // Without a leader no start is sent, and there is nothing to follow.
    if follows && has_heard && begins.recv().is_ok() {
        duet.follow();
    }
}

fn pin_to(cpu: u32) -> PinResult {
    pin(cpu).map_err(LimitError::refused("sched_setaffinity"))
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, LimitError> {
    // Two at once at most: the other one may still be starting.
    check_thread_room(2).map_err(refused_thread)?;
    let named = Builder::new().name("limits".to_owned());
    named
        .spawn_scoped(scope, work)
        .map_err(|error| refused_thread(Errno::from_io_error(&error).unwrap_or(Errno::AGAIN)))
}

fn refused_thread(errno: Errno) -> LimitError {
    LimitError::Refused { call: "starting a thread", errno }
}

fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::placement::Topology;

    /// A duet that waits until it is stopped.
    #[derive(Default)]
    struct Waiting(AtomicBool);

    impl Waiting {
        fn wait(&self) {
            while !self.0.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
        }
    }

    impl PairMeasurement for Waiting {
        type Output = ();

        fn lead(&self) -> Result<(), LimitError> {
            self.wait();
            Ok(())
        }

        fn follow(&self) {
            self.wait();
        }

        fn stop(&self) {
            self.0.store(true, Ordering::Release);
        }
    }

    fn first_cpu() -> u32 {
        Topology::read().unwrap().cpus[0].number
    }

    #[test]
    fn work_alone_leaves_the_callers_affinity_as_it_was() {
        let before = Topology::read().unwrap();
        let seen = run_pinned(first_cpu(), || Ok(Topology::read().unwrap().cpus.len()));
        assert_eq!(seen, Ok(1));
        assert_eq!(Topology::read().unwrap(), before);
    }

    #[test]
    fn two_that_do_not_end_are_stopped() {
        let waiting = Waiting::default();
        assert_eq!(run_pair([first_cpu(); 2], Duration::from_millis(5), &waiting), Ok(()));
    }

    #[test]
    fn a_cpu_that_is_not_there_is_a_reason_and_no_hang() {
        let nowhere = 1023;
        for cpus in [[nowhere, first_cpu()], [first_cpu(), nowhere]] {
            let refused = run_pair(cpus, Duration::from_secs(60), &Waiting::default());
            let reason = refused.unwrap_err().to_string();
            assert!(reason.starts_with("sched_setaffinity was refused"), "{reason}");
        }
    }
}
