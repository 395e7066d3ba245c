//! Random bytes of the kernel.

use std::io;

/// Fills `bytes`, at most 256 of them.
///
/// # Errors
/// Returns an error if the kernel or a seccomp filter refuses getrandom.
pub(crate) fn fill(bytes: &mut [u8]) -> io::Result<()> {
    loop {
        // SAFETY: pointer and length are those of `bytes`.
        let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        // Requests of up to 256 bytes are never cut short.
        if usize::try_from(got) == Ok(bytes.len()) {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
