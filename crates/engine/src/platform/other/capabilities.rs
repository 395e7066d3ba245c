//! Capabilities that the program's file grants: there are none.

use rustix::io::Errno;

/// Whether the file granted this process a capability that its user does not have.
pub(crate) fn are_granted() -> bool {
    false
}

/// Drops the capabilities that the file granted.
#[allow(clippy::unnecessary_wraps, reason = "may fail on Linux")]
pub(crate) fn drop_granted() -> Result<(), Errno> {
    Ok(())
}
