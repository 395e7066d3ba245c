//! Whom an instrument watches.

use serde::{Deserialize, Serialize};

/// The system call that each party makes twice, just before and just after every phase of a run: what it
/// does in between is its part of the workload and nothing else. Threads of a library, and brokers, make no
/// such calls: their time is that of the parties they work for.
pub const MARK: &str = "getrusage";

/// What of a process belongs to a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The one thread.
    Thread,
    /// All threads of its process, those of libraries too. The thread that is named makes the marks.
    Process,
    /// All threads of a daemon that makes no marks: it is watched while any party is between its own.
    Daemon,
}

/// One of those who are watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The role it plays: `sender`, `receiver`, `broker` or `both`. Each occurs once.
    pub role: String,
    /// Its process, as this process sees it.
    pub pid: u32,
    /// The thread that plays the role.
    pub tid: u32,
    /// What of the process belongs to the role.
    pub scope: Scope,
}

/// All who are watched in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parties {
    /// At most one for each role.
    pub members: Vec<Member>,
}
