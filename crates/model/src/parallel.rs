//! Parallel map over many items, on all CPUs that this process may use.

use std::hint;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};

/// Maximum number of threads. More gain nothing: one thread collects the results.
const MAX_THREADS: usize = 16;

/// Address space that a thread may need to start, in bytes: 2 MiB for its stack, 128 MiB for a moment while the C library
/// sets up the memory that the thread allocates from (glibc: twice `HEAP_MAX_SIZE`), and less than 1 MiB for the stack on
/// which the standard library handles an overflow. Without room for the last one, the standard library ends the whole
/// process, after the thread was started without an error.
pub const THREAD_ROOM_BYTES: usize = (2 + 128 + 1) << 20;

/// Applies `each` to every item and returns the results in the order of the items.
///
/// All threads have ended when this function returns, so that they do not disturb a later measurement. If the
/// system refuses to start more threads, or has no room for them, the existing ones do the work.
pub fn map<T, I, R>(items: I, each: impl Fn(T) -> R + Sync) -> Vec<R>
where
    T: Send,
    I: Iterator<Item = T> + Send,
    R: Send,
{
    let helpers = threads(items.size_hint().1).saturating_sub(1);
    let helpers = (0..=helpers).rev().find(|&count| has_room(count)).unwrap_or(0);
    let items = Mutex::new(items.enumerate());
    let work = || process_items(&items, &each);
    let mut results = thread::scope(|scope| {
        let helpers: Vec<_> = (0..helpers).map_while(|_| spawn(scope, work)).collect();
        let mut results = work();
        helpers.into_iter().for_each(|helper| results.extend(join(helper)));
        results
    });
    results.sort_unstable_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Number of threads for `items`, given the maximum number of items if it is known.
fn threads(items: Option<usize>) -> usize {
    let cpus = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    match items.unwrap_or(MAX_THREADS).min(MAX_THREADS) {
        few @ 0..=1 => few,
        many => many.min(cpus()),
    }
}

/// Whether there is address space for `helpers` threads to start.
fn has_room(helpers: usize) -> bool {
    let mut room = Vec::<u8>::new();
    let is_there = room.try_reserve_exact(helpers * THREAD_ROOM_BYTES).is_ok();
    // A compiler may leave out an allocation that nothing looks at, and assume that it would have succeeded.
    hint::black_box(&room);
    is_there
}

fn spawn<'scope, R: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> R + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, R>> {
    thread::Builder::new().spawn_scoped(scope, work).ok()
}

fn join<R>(helper: ScopedJoinHandle<'_, R>) -> R {
    helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Takes items one after another that no other thread has taken.
fn process_items<T, R>(
    items: &Mutex<impl Iterator<Item = (usize, T)>>,
    each: impl Fn(T) -> R,
) -> Vec<(usize, R)> {
    // A panic of another thread is reported where that thread is joined.
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::iter::from_fn(next).map(|(at, item)| (at, each(item))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..1_000).collect();
        let squares: Vec<u64> = items.iter().map(|item| item * item).collect();
        assert_eq!(map(items.iter(), |item| item * item), squares);
        assert!(map(items[..0].iter(), |item| item * item).is_empty());
    }

    #[test]
    #[should_panic(expected = "seven")]
    fn a_panic_in_one_is_a_panic_of_all() {
        map([1, 7, 3].into_iter(), |item| assert_ne!(item, 7, "seven"));
    }
}
