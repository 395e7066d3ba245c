//! Linux.

pub(crate) mod capabilities;
pub(crate) mod folder;
pub(crate) mod memory;
pub(crate) mod message_queue;
pub(crate) mod random;
pub(crate) mod socket_options;
pub(crate) mod sysctl;
pub(crate) mod thread;
pub(crate) mod uring;

pub(crate) use super::linux_or_freebsd::{affinity, close_on_exec, parent_death};
pub(crate) use rustix::thread::futex;

/// Adoption of orphans.
pub(crate) mod subreaper {
    use rustix::io::Errno;
    use rustix::process::{getpid, set_child_subreaper};

    /// Makes this process the parent of its orphaned descendants.
    pub(crate) fn acquire() -> Result<(), Errno> {
        set_child_subreaper(Some(getpid()))
    }
}
