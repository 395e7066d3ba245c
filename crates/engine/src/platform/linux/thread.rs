//! Identity and resource use of a thread.

pub(crate) use rustix::thread::set_name;

/// Argument of getrusage for the calling thread alone.
pub(crate) const RUSAGE_THREAD: libc::c_int = libc::RUSAGE_THREAD;

/// Identifier of the calling thread.
pub(crate) fn id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}
