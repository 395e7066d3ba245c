//! System V objects of a run: created under keys drawn for it, and removed by identity.
//!
//! A key alone does not identify an object's owner. An object counts as the run's only if its key is one of the run's,
//! this user created it, and it was created after the run's names were drawn.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod unsupported;

use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
pub(super) use linux::existing;
#[cfg(target_os = "linux")]
pub(crate) use linux::{CreatedObject, create, remove_all};
#[cfg(not(target_os = "linux"))]
pub(super) use unsupported::existing;

/// A kind of System V object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SystemV {
    /// A message queue.
    Queue,
    /// A set of semaphores.
    Semaphores,
    /// A segment of shared memory.
    Memory,
}

impl SystemV {
    /// Kernel's name for the kind, as in the files of `/proc/sysvipc` and in `ipcs`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "msg",
            Self::Semaphores => "sem",
            Self::Memory => "shm",
        }
    }
}
