//! Constants of the BPF programs that name the observed threads and processes (`members.h`).

use aya::EbpfLoader;
use ipcperf_model::Unavailable;

use crate::{Member, Scope};

/// Maximum number of observed members.
pub(crate) const MAX_MEMBERS: usize = 4;

/// System call number of [`MARK_FUNCTION`](crate::MARK); it fits in 8 bits.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(crate) const MARK_SYSCALL_NR: u32 = libc::SYS_getrusage as u32;

/// Constants of `members.h`.
#[derive(Debug)]
pub(crate) struct MemberConstants {
    threads: [u32; MAX_MEMBERS],
    processes: [u32; MAX_MEMBERS],
}

impl MemberConstants {
    /// Creates the constants for `members`.
    ///
    /// # Errors
    /// There are more members than the programs have room for.
    pub(crate) fn from_members(members: &[Member]) -> Result<Self, Unavailable> {
        if members.len() > MAX_MEMBERS {
            return Err(Unavailable {
                reason: format!("cannot observe more than {MAX_MEMBERS} peers"),
                remedy: "observe fewer peers".to_owned(),
            });
        }
        let mut constants = Self { threads: [0; MAX_MEMBERS], processes: [0; MAX_MEMBERS] };
        for (at, member) in members.iter().enumerate() {
            (constants.threads[at], constants.processes[at]) = match member.scope {
                Scope::Thread => (member.tid, 0),
                Scope::Process => (member.tid, member.pid),
                Scope::Daemon => (0, member.pid),
            };
        }
        Ok(constants)
    }

    /// Sets the constants. `maps` count the calls of threads other than the members' own; their size is minimal if
    /// there are no such threads.
    pub(crate) fn apply_to<'a>(&'a self, loader: &mut EbpfLoader<'a>, maps: &[&'a str]) {
        loader.override_global("member_threads", &self.threads, true);
        loader.override_global("member_processes", &self.processes, true);
        if self.processes.iter().all(|&process| process == 0) {
            for map in maps {
                loader.map_max_entries(map, 1);
            }
        }
    }
}
