//! The memory that a party's messages lie in.

use ipcperf_model::message_options::Handling;
use ipcperf_model::{Failure, FailureKind, Role, RunSpec};
use rustix::io::Errno;

use crate::workload::Places;

/// Where a party sends messages from and receives them into. Of what it does not use there is no
/// more than a byte.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) outgoing: Places,
    pub(super) incoming: Places,
}

impl Memory {
    /// Maps it, and touches it unless that is to be timed, for `role` of `spec`, whose end wants to send from `turns` buffers in turn.
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

/// That there is no memory for messages of `bytes`.
fn no_memory(bytes: usize, errno: Errno) -> Failure {
    Failure::from_errno(
        FailureKind::SetUp,
        format!("a buffer of {bytes} bytes"),
        errno.raw_os_error(),
    )
    .with_remedy("use smaller messages")
}
