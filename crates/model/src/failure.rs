//! Reasons why a run produced no measurement.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::role::Role;

/// Number of the signal, the same on every POSIX system.
const SIGKILL: i32 = 9;

/// Kind of failure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The mechanism, a buffer or the placement could not be set up.
    SetUp,
    /// A separately started peer did not find the other one, or was not let in.
    Unreachable,
    /// A call of the timed loop failed.
    Call,
    /// The peer closed its end during the run.
    PeerGone,
    /// A message arrived changed, twice or out of order, or did not arrive although the mechanism may not lose any.
    Corrupt,
    /// A message arrived with a length other than the one it was sent with.
    Boundary,
    /// A peer was killed, or exited without a report.
    Died,
    /// A peer panicked: a bug in ipcperf.
    Panicked,
    /// The run did not end before the deadline.
    Timeout,
    /// The worker did not start, or sent an invalid answer.
    Worker,
    /// An instrument could not observe the run, or has no data for it.
    Instrument,
    /// A custom mechanism (`exec:` or `lib:`) gave an invalid or impossible answer.
    Answer,
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SetUp => "could not be set up",
            Self::Unreachable => "the other peer could not be reached",
            Self::Call => "a call failed",
            Self::PeerGone => "the peer's end was closed",
            Self::Corrupt => "a message was corrupt",
            Self::Boundary => "a message boundary was lost",
            Self::Died => "a peer died",
            Self::Panicked => "a peer panicked",
            Self::Timeout => "timeout",
            Self::Worker => "the worker failed",
            Self::Instrument => "an instrument failed",
            Self::Answer => "a custom program gave an invalid answer",
        })
    }
}

/// Typed failure of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what}: {place}{}", errno_text(*.errno))]
pub struct Failure {
    /// Kind of failure.
    pub what: FailureKind,
    /// Role that met the failure, if one did.
    pub role: Option<Role>,
    /// Call or step that failed, with its arguments.
    #[serde(rename = "where")]
    pub place: String,
    /// Error number of the system, if there is one.
    pub errno: Option<i32>,
    /// Hint for the user.
    pub remedy: Option<String>,
    /// Whether the same run may succeed later: the failure says nothing about the mechanism, only that the machine
    /// had no resources for the harness at that moment.
    #[serde(default)]
    pub transient: bool,
}

fn errno_text(errno: Option<i32>) -> String {
    errno.map_or_else(String::new, |number| {
        format!(" ({})", std::io::Error::from_raw_os_error(number))
    })
}

impl Failure {
    /// Builds a failure of kind `what` at `place`, with no other details.
    #[must_use]
    pub fn new(what: FailureKind, place: impl Into<String>) -> Self {
        let place = place.into();
        Self { what, role: None, place, errno: None, remedy: None, transient: false }
    }

    /// Builds the failure of a call that the system refused with `errno`.
    #[must_use]
    pub fn from_errno(what: FailureKind, place: impl Into<String>, errno: i32) -> Self {
        Self { errno: Some(errno), ..Self::new(what, place) }
    }

    /// Builds the failure for a process that `signal` ended, or that ended without a signal. SIGKILL counts as
    /// transient: it comes from outside, from an operator or from the kernel when memory ran out.
    #[must_use]
    pub fn from_signal(signal: Option<i32>, place: impl Into<String>) -> Self {
        let transient = signal == Some(SIGKILL);
        Self { transient, ..Self::new(FailureKind::Died, place) }
    }

    /// Attributes the failure to `role`.
    #[must_use]
    pub fn with_role(self, role: Role) -> Self {
        Self { role: Some(role), ..self }
    }

    /// Adds a hint for the user.
    #[must_use]
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}
