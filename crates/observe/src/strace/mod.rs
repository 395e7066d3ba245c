//! `strace`: each system call stopped twice by ptrace, told in a line, and read after the run.
//!
//! It is there for comparison: what everyone has, and what it costs. It is asked for as little as it can do:
//! numbers instead of names and structures, so that it reads nothing of the parties' memory, and no signals.
//! All calls are traced; a filter in the kernel (`--seccomp-bpf`) is only for programs that strace starts
//! itself.

#[cfg(target_os = "linux")]
mod line;
#[cfg(target_os = "linux")]
mod phases;
#[cfg(target_os = "linux")]
mod watch;

use serde::{Deserialize, Serialize};

use crate::Observation;
use crate::calls;
#[cfg(not(target_os = "linux"))]
use crate::elsewhere::{arm, available};
use crate::instrument::{Disturbs, Instrument, Source};
use crate::picture::Picture;

/// The line in the list.
pub(crate) const STRACE: Instrument = Instrument {
    name: "strace",
    about: "system calls as strace times them, for comparison: stops each call twice",
    needs: "strace; the right to trace processes (ptrace)",
    disturbs: Disturbs::Yes,
    source: Source::Outside { available, arm },
    pictures,
};

#[cfg(target_os = "linux")]
use watch::{arm, available};

/// What strace wrote that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// Lines of no known form: what they told is missing from the counts.
    pub unread_lines: u64,
}

fn pictures(observations: &[Observation]) -> Vec<Picture> {
    calls::tables("strace", observations)
}
