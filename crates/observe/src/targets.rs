//! Processes and threads that an instrument observes.

use serde::{Deserialize, Serialize};

/// System call that each peer makes twice, just before and just after every phase of a run. Everything it does between
/// the two calls is its part of the workload. Threads of a library, and brokers, do not make these calls: they are
/// observed during the intervals of the peers that they work for.
pub const MARK: &str = "getrusage";

/// Part of a process that belongs to a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// A single thread.
    Thread,
    /// All threads of the process, including those of libraries. The thread given by `tid` makes the marks.
    Process,
    /// All threads of a daemon that makes no marks: it is observed while any peer is between its marks.
    Daemon,
}

/// An observed process or thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Role of the member: `sender`, `receiver`, `broker` or `both`. Each role occurs once.
    pub role: String,
    /// Process ID, in the PID namespace of this process.
    pub pid: u32,
    /// ID of the thread that has the role.
    pub tid: u32,
    /// Part of the process that belongs to the role.
    pub scope: Scope,
}

/// All members observed in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Targets {
    /// Members, at most one per role.
    pub members: Vec<Member>,
    /// Number of messages of a paced run, of which the slowest are explained; `None` for other runs.
    #[serde(default)]
    pub paced_messages: Option<u64>,
}

impl Targets {
    /// Creates targets with these members, of a run that is not paced.
    #[must_use]
    pub const fn new(members: Vec<Member>) -> Self {
        Self { members, paced_messages: None }
    }
}
