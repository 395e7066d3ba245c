//! Why a run yielded nothing.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::role::Role;

/// Its number, the same on every system that POSIX describes.
const SIGKILL: i32 = 9;

/// Why a run yielded nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The mechanism, a buffer or the placement could not be set up.
    SetUp,
    /// A call of the timed loop failed.
    Call,
    /// The other party's end was closed in mid-run.
    PeerGone,
    /// A message arrived changed, twice, out of order, or not at all where none may be lost.
    Corrupt,
    /// A message arrived with another length than it was sent with.
    Boundary,
    /// A party was killed or exited without a word.
    Died,
    /// A party panicked: a defect of ipcperf.
    Panicked,
    /// The run did not end in time.
    Deadline,
    /// The worker did not start, or answered nonsense.
    Worker,
    /// An instrument could not watch the run, or has nothing to tell of it.
    Instrument,
    /// A program of one's own answered what is no answer, or cannot be.
    Answer,
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SetUp => "could not be set up",
            Self::Call => "a call failed",
            Self::PeerGone => "the peer's end was closed",
            Self::Corrupt => "a message was corrupt",
            Self::Boundary => "a message boundary was lost",
            Self::Died => "a party died",
            Self::Panicked => "a party panicked",
            Self::Deadline => "the deadline passed",
            Self::Worker => "the worker failed",
            Self::Instrument => "an instrument could not watch",
            Self::Answer => "a program's answer makes no sense",
        })
    }
}

/// A typed failure of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what}: {place}{}", errno_text(*.errno))]
pub struct Failure {
    /// The kind of failure.
    pub what: FailureKind,
    /// Which role met it, where one did.
    pub role: Option<Role>,
    /// Where: the call or step, with what it was given.
    #[serde(rename = "where")]
    pub place: String,
    /// The system's error number, where there is one.
    pub errno: Option<i32>,
    /// What the user can do.
    pub remedy: Option<String>,
    /// Whether it says nothing of the mechanism, but that the machine had no room for the harness just then: the
    /// same run may go well later.
    #[serde(default)]
    pub transient: bool,
}

fn errno_text(errno: Option<i32>) -> String {
    errno.map_or_else(String::new, |number| {
        format!(" ({})", std::io::Error::from_raw_os_error(number))
    })
}

impl Failure {
    /// A failure of `what` at `place`, with nothing else known.
    #[must_use]
    pub fn new(what: FailureKind, place: impl Into<String>) -> Self {
        let place = place.into();
        Self { what, role: None, place, errno: None, remedy: None, transient: false }
    }

    /// A call that the system refused with `errno`.
    #[must_use]
    pub fn from_errno(what: FailureKind, place: impl Into<String>, errno: i32) -> Self {
        Self { errno: Some(errno), ..Self::new(what, place) }
    }

    /// That a process ended by `signal`, or without any. SIGKILL comes from elsewhere: from an operator, or from the
    /// kernel where there was no memory.
    #[must_use]
    pub fn killed_by(signal: Option<i32>, place: impl Into<String>) -> Self {
        let transient = signal == Some(SIGKILL);
        Self { transient, ..Self::new(FailureKind::Died, place) }
    }

    /// The same failure, met by `role`.
    #[must_use]
    pub fn by(self, role: Role) -> Self {
        Self { role: Some(role), ..self }
    }

    /// The same failure, with what the user can do about it.
    #[must_use]
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}
