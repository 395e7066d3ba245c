//! Why a limit could not be measured.

use std::time::Duration;

use rustix::io::Errno;

use crate::placement::PlacementError;

/// Why there is no figure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unmeasured {
    /// The CPUs it needs are not there.
    #[error(transparent)]
    NoCpus(#[from] PlacementError),
    /// The system refused a call it needs.
    #[error("{call} was refused: {errno}")]
    Refused {
        /// What was called.
        call: &'static str,
        /// What the system said.
        errno: Errno,
    },
    /// Not enough memory is free to take so much without pushing others out.
    #[error("needs {needed_bytes} bytes of available memory, there are {available_bytes}")]
    ShortOfMemory {
        /// What must be available.
        needed_bytes: u64,
        /// What is.
        available_bytes: u64,
    },
    /// It takes longer than a brief look may.
    #[error("takes too long for a brief look: see ipcperf machine")]
    TooLong,
    /// Not one batch came to an end in time.
    #[error("given up after {} ms: the machine is too busy", .after.as_millis())]
    TooBusy {
        /// How long was tried.
        after: Duration,
    },
}

impl Unmeasured {
    /// The closure that turns the refusal of `call` into the reason.
    pub(super) fn refused(call: &'static str) -> impl Fn(Errno) -> Self {
        move |errno| Self::Refused { call, errno }
    }
}
