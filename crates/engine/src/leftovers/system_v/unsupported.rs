//! System V objects where no mechanism uses them: there are none to remove.

use rustix::io::Errno;

use super::SystemV;
use crate::leftovers::RunNames;

/// Existing objects of a run: none.
pub(in crate::leftovers) fn existing(_: &RunNames) -> impl Iterator<Item = (SystemV, i32)> {
    std::iter::empty()
}

impl SystemV {
    /// Reports that an object cannot be removed.
    pub(in crate::leftovers) fn remove(self, _: i32) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }
}
