//! One thing that a run made and nobody has removed.

use std::ffi::CString;
use std::fmt;
use std::path::PathBuf;

use rustix::fs::unlink;
use rustix::io::Errno;

use super::folder::{as_c, remove_own};
use super::message_queue;
use super::shared_memory::SHARED_MEMORY;
use super::system_v::SystemV;

/// What is left of a run. Only what was found by its token, and belongs to this user, becomes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leftover {
    /// A folder.
    Folder(PathBuf),
    /// A POSIX message queue.
    MessageQueue(CString),
    /// POSIX shared memory.
    SharedMemory(String),
    /// A System V object.
    SystemV {
        /// Which kind.
        kind: SystemV,
        /// Its number.
        id: i32,
    },
}

impl Leftover {
    /// A word for what it is.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Folder(_) => "folder",
            Self::MessageQueue(_) => "message queue",
            Self::SharedMemory(_) => "shared memory",
            Self::SystemV { kind: SystemV::Queue, .. } => "System V queue",
            Self::SystemV { kind: SystemV::Semaphores, .. } => "System V semaphores",
            Self::SystemV { kind: SystemV::Memory, .. } => "System V shared memory",
        }
    }

    /// Removes it.
    ///
    /// # Errors
    /// Why it is still there.
    pub(super) fn remove(&self) -> Result<(), Errno> {
        match self {
            Self::Folder(path) => remove_own(&as_c(path).ok_or(Errno::INVAL)?),
            Self::MessageQueue(name) => message_queue::remove(name),
            Self::SharedMemory(name) => {
                unlink(format!("{}/{name}", SHARED_MEMORY.to_string_lossy()))
            }
            Self::SystemV { kind, id } => kind.remove(*id),
        }
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => write!(f, "{}", path.display()),
            Self::MessageQueue(name) => f.write_str(&name.to_string_lossy()),
            Self::SharedMemory(name) => {
                write!(f, "{}/{name}", SHARED_MEMORY.to_string_lossy())
            }
            Self::SystemV { kind, id } => write!(f, "{} {id}", kind.name()),
        }
    }
}
