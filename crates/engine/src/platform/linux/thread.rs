//! Identity and resource use of a thread.

pub(crate) use rustix::thread::set_name;

/// Argument of getrusage for the calling thread alone.
pub(crate) const RUSAGE_THREAD: libc::c_int = libc::RUSAGE_THREAD;

/// Identifier of the calling thread.
pub(crate) fn id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

/// Makes sleeps of the calling thread end as soon as they can: the kernel adds up to 50 µs by default.
pub(crate) fn minimize_timer_slack() {
    // Setting a slack cannot fail; without it, sleeps are less exact, which the delays of the sends show.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}
