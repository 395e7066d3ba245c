//! Memory for a peer's messages.

use ipcperf_model::message_options::Handling;
use ipcperf_model::{Failure, FailureKind, Role, RunSpec};
use rustix::io::Errno;

use crate::workload::Places;

/// Buffers that a peer sends from and receives into. A direction that it does not use has a buffer of one byte.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) outgoing: Places,
    pub(super) incoming: Places,
}

impl Memory {
    /// Maps the buffers of `role` of `spec`, and touches them unless the first touch is to be timed. The peer's end
    /// needs `turns` send buffers.
    pub(super) fn mapped(spec: &RunSpec, role: Role, turns: usize) -> Result<Self, Failure> {
        let is_answered = spec.workload.is_answered();
        let bytes = usize::try_from(spec.largest_bytes()).unwrap_or(usize::MAX);
        let places = |least| {
            Places::mapped(bytes, least, &spec.handling).map_err(|errno| no_memory(bytes, errno))
        };
        let unused =
            || Places::mapped(1, 1, &Handling::default()).map_err(|errno| no_memory(1, errno));
        let sends = is_answered || role != Role::Receiver;
        let receives = is_answered || role != Role::Sender;
        Ok(Self {
            outgoing: if sends { places(turns)? } else { unused()? },
            incoming: if receives { places(1)? } else { unused()? },
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
