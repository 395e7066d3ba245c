//! An object that a run created and that still exists.

use std::ffi::CString;
use std::fmt;
use std::path::PathBuf;

use rustix::fs::unlink;
use rustix::io::Errno;

use super::folder::{remove_owned_folder, to_cstring};
use super::message_queue;
use super::shared_memory::SHM_FOLDER;
use super::system_v::SystemV;

/// An object that a run left behind. It was found by the run's token and belongs to this user.
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
        /// Kind of the object.
        kind: SystemV,
        /// Its identifier.
        id: i32,
    },
}

impl Leftover {
    /// Name of the object's kind.
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

    /// Removes the object.
    ///
    /// # Errors
    /// Returns the reason why it still exists.
    pub(super) fn remove(&self) -> Result<(), Errno> {
        let removed = match self {
            Self::Folder(path) => remove_owned_folder(&to_cstring(path).ok_or(Errno::INVAL)?),
            Self::MessageQueue(name) => message_queue::remove(name),
            Self::SharedMemory(name) => unlink(format!("{}/{name}", SHM_FOLDER.to_string_lossy())),
            Self::SystemV { kind, id } => kind.remove(*id),
        };
        match removed {
            // Removed in the meantime.
            Err(Errno::NOENT | Errno::IDRM) => Ok(()),
            removed => removed,
        }
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => write!(f, "{}", path.display()),
            Self::MessageQueue(name) => f.write_str(&name.to_string_lossy()),
            Self::SharedMemory(name) => {
                write!(f, "{}/{name}", SHM_FOLDER.to_string_lossy())
            }
            Self::SystemV { kind, id } => write!(f, "{} {id}", kind.name()),
        }
    }
}
