//! Reasons why a limit could not be measured.

use std::time::Duration;

use rustix::io::Errno;

use crate::placement::PlacementError;

/// Reason why there is no figure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// The CPUs it needs are not available.
    #[error(transparent)]
    NoCpus(#[from] PlacementError),
    /// The system refused a call it needs.
    #[error("{call} was refused: {errno}")]
    Refused {
        /// Name of the call.
        call: &'static str,
        /// Error of the system.
        errno: Errno,
    },
    /// Not enough memory is available to allocate this much without evicting other data.
    #[error("needs {needed_bytes} bytes of memory; {available_bytes} are available")]
    ShortOfMemory {
        /// Available memory required, bytes.
        needed_bytes: u64,
        /// Available memory, bytes.
        available_bytes: u64,
    },
    /// The measurement takes longer than [`Brief`](super::Effort::Brief) allows.
    #[error("takes too long for a brief measurement; ipcperf machine measures it")]
    TooLong,
    /// Not one batch ended in time.
    #[error("timed out after {} ms: the machine is too busy", .after.as_millis())]
    TooBusy {
        /// Time spent trying.
        after: Duration,
    },
}

impl LimitError {
    /// Returns a closure that converts the error of `call` into the reason.
    pub(super) fn refused(call: &'static str) -> impl Fn(Errno) -> Self {
        move |errno| Self::Refused { call, errno }
    }
}
