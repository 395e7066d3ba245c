//! Loads the BPF programs with the list of members to observe, and reads their maps after the run.

use std::sync::OnceLock;

use ipcperf_model::Unavailable;
use ipcperf_model::observation::Observation;

use super::bpf_layout::{Kept, KeptRow, NUMBERS, SharedKey, rows_of};
use crate::bpf::{Attached, MARK_CALL, Object, Watched};
use crate::syscall_table::lengths;
use crate::{Member, Parties, Scope, Watch};

const OBJECT: Object = Object {
    bytes: aya::include_bytes_aligned!("../bpf/syscalls.bpf.o"),
    programs: &[("entered", "sys_enter"), ("left", "sys_exit")],
};

/// Checks availability by observing this process. The answer is cached for the life of the process.
pub(super) fn available() -> Result<Vec<Unavailable>, Unavailable> {
    static TRIED: OnceLock<Result<(), Unavailable>> = OnceLock::new();
    let pid = std::process::id();
    let member = Member { role: "both".to_owned(), pid, tid: pid, scope: Scope::Thread };
    let tried = TRIED.get_or_init(|| SyscallWatch::over(&[member]).map(drop));
    tried.clone().map(|()| Vec::new())
}

/// Starts observing `parties`.
pub(super) fn arm(parties: &Parties) -> Result<Box<dyn Watch>, Unavailable> {
    Ok(Box::new(SyscallWatch::over(&parties.members)?))
}

/// The attached BPF programs and the members that they count for.
#[derive(Debug)]
struct SyscallWatch {
    attached: Attached,
    members: Vec<Member>,
}

impl SyscallWatch {
    fn over(members: &[Member]) -> Result<Self, Unavailable> {
        let (watched, lengths) = (Watched::of(members)?, lengths::<NUMBERS>());
        let attached = Attached::load(&OBJECT, |loader| {
            watched.set(loader, &["shared_rows", "shared_calls"]);
            loader.override_global("mark", &MARK_CALL, true);
            loader.override_global("lengths", &lengths, true);
        })?;
        Ok(Self { attached, members: members.to_vec() })
    }
}

impl Watch for SyscallWatch {
    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable> {
        let Self { attached, members } = *self;
        let stopped = attached.stop();
        let kept = stopped.section::<Kept>(".bss")?;
        let shared = stopped.entries::<SharedKey, KeptRow>("shared_rows")?;
        complete(&kept)?;
        let last = kept.threads.iter().map(|thread| thread.call.generation).max().unwrap_or(0);
        let mut observations = Vec::new();
        for (at, member) in members.iter().enumerate() {
            let generation = match member.scope {
                Scope::Daemon => last,
                _ => kept.threads[at].call.generation,
            };
            let rows = rows_of(at, generation, &kept, &shared);
            let role = Some(member.role.as_str());
            observations.extend(rows.iter().map(|row| Observation::of(role, row)));
        }
        Ok(observations)
    }
}

/// Returns an error if calls were lost because a map was full.
fn complete(kept: &Kept) -> Result<(), Unavailable> {
    match kept.lost {
        0 => Ok(()),
        lost => Err(Unavailable {
            reason: format!("{lost} calls of other threads found no room to be counted in"),
            remedy: "watch a case with fewer threads or fewer phases: --total".to_owned(),
        }),
    }
}
