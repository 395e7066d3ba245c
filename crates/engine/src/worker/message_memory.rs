//! Memory for a peer's messages.

use ipcperf_model::message_options::MessageOptions;
use ipcperf_model::{Failure, FailureKind, Role, RunSpec};
use rustix::io::Errno;

use crate::workload::BufferPool;

/// Buffers that a peer sends from and receives into. A direction that it does not use has a buffer of one byte.
#[derive(Debug)]
pub(super) struct MessageMemory {
    pub(super) outgoing: BufferPool,
    pub(super) incoming: BufferPool,
}

impl MessageMemory {
    /// Maps the buffers of `role` of `spec`, and touches them ([`Buffer::new_touched`](crate::buffer::Buffer::new_touched))
    /// unless the first touch is to be timed. The peer's end needs `send_buffers` send buffers.
    pub(super) fn new(spec: &RunSpec, role: Role, send_buffers: usize) -> Result<Self, Failure> {
        let is_answered = spec.workload.is_answered();
        let bytes = usize::try_from(spec.largest_bytes()).unwrap_or(usize::MAX);
        let map_pool = |least| {
            BufferPool::new(bytes, least, &spec.message_options)
                .map_err(|errno| no_memory(bytes, errno))
        };
        let unused = || {
            BufferPool::new(1, 1, &MessageOptions::default()).map_err(|errno| no_memory(1, errno))
        };
        let sends = is_answered || role != Role::Receiver;
        let receives = is_answered || role != Role::Sender;
        Ok(Self {
            outgoing: if sends { map_pool(send_buffers)? } else { unused()? },
            incoming: if receives { map_pool(1)? } else { unused()? },
        })
    }
}

/// Failure to map memory for messages of `bytes`.
fn no_memory(bytes: usize, errno: Errno) -> Failure {
    Failure::from_errno(
        FailureKind::SetUp,
        format!("a buffer of {bytes} bytes"),
        errno.raw_os_error(),
    )
    .with_remedy("use smaller messages")
}
