//! Random bytes of the kernel.

use std::io;

/// Fills `bytes`, at most 256 of them.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn fill(bytes: &mut [u8]) -> io::Result<()> {
    // SAFETY: pointer and length are those of `bytes`.
    match unsafe { libc::getentropy(bytes.as_mut_ptr().cast(), bytes.len()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
