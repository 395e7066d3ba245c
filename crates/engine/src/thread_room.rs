//! Address space for threads that are about to start.

use std::ptr;

use ipcperf_model::parallel::THREAD_ROOM_BYTES;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Checks that the address space has room for `threads` more threads ([`THREAD_ROOM_BYTES`] each). Otherwise the standard
/// library may end the whole process when a thread that has started finds too little.
///
/// # Errors
/// Returns `ENOMEM` if it does not.
pub(crate) fn check_thread_room(threads: usize) -> rustix::io::Result<()> {
    let bytes = threads.saturating_mul(THREAD_ROOM_BYTES);
    // SAFETY: a new anonymous mapping at an address that the kernel chooses overlaps no other memory, nothing else knows
    // its address, it cannot be accessed, and it is unmapped whole.
    unsafe {
        // Memory that cannot be accessed counts as address space alone, not as memory that the system has promised.
        let room = mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::empty(), MapFlags::PRIVATE)?;
        munmap(room, bytes)
    }
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn there_is_room_for_some_threads_and_not_for_any_number() {
        assert_eq!(check_thread_room(2), Ok(()));
        assert_eq!(check_thread_room(usize::MAX), Err(Errno::NOMEM));
    }
}
