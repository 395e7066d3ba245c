//! Linux.

pub(crate) mod capabilities;
pub(crate) mod folder;
pub(crate) mod memory;
pub(crate) mod message_queue;
pub(crate) mod random;
pub(crate) mod socket_options;
pub(crate) mod sysctl;
pub(crate) mod thread;

pub(crate) use rustix::thread::futex;

/// CPUs of a thread.
pub(crate) mod affinity {
    pub(crate) use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// Whether a thread can be pinned to a CPU.
    pub(crate) const CAN_PIN: bool = true;
}

/// Descriptors that a program started later does not inherit.
pub(crate) mod close_on_exec {
    pub(crate) use rustix::net::{RecvFlags, SocketFlags, accept_with, socket_with, socketpair};
    pub(crate) use rustix::pipe::{PipeFlags, pipe_with};

    /// Flag with which descriptors that arrive in a message are closed on exec.
    pub(crate) const RECEIVED: RecvFlags = RecvFlags::CMSG_CLOEXEC;
}

/// Adoption of orphans.
pub(crate) mod subreaper {
    use rustix::io::Errno;
    use rustix::process::{getpid, set_child_subreaper};

    /// Makes this process the parent of its orphaned descendants.
    pub(crate) fn acquire() -> Result<(), Errno> {
        set_child_subreaper(Some(getpid()))
    }
}

/// Signal that a process gets when its parent dies.
pub(crate) mod parent_death {
    pub(crate) use rustix::process::{
        parent_process_death_signal, set_parent_process_death_signal,
    };
}
