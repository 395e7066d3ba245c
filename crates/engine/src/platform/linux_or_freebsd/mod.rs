//! Items that Linux and FreeBSD have in common.

pub(crate) mod message_queue;

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

/// Signal that a process gets when its parent dies.
pub(crate) mod parent_death {
    pub(crate) use rustix::process::{
        parent_process_death_signal, set_parent_process_death_signal,
    };
}
