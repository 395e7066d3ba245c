//! Attaches the programs to three scheduler events and to system call entry, and reads their results.

mod bpf_layout;
mod roles;
mod timeline;

use std::sync::OnceLock;

use ipcperf_model::Unavailable;
use ipcperf_model::observation::Observation;

use crate::bpf::{Attached, MARK_CALL, Object};
use crate::{MARK, Member, Parties, Scope, Watch};

const OBJECT: Object = Object {
    bytes: aya::include_bytes_aligned!("../bpf/sched.bpf.o"),
    programs: &[
        ("switched", "sched_switch"),
        ("waking", "sched_waking"),
        ("woken", "sched_wakeup"),
        ("entered", "sys_enter"),
    ],
};

/// ID that no thread has.
const NOBODY: u32 = u32::MAX;

/// Checks availability without observing anyone. The answer is cached for the life of the process. All events are
/// required: without one, the others are useless.
pub(super) fn available() -> Result<Vec<Unavailable>, Unavailable> {
    static TRIED: OnceLock<Result<(), Unavailable>> = OnceLock::new();
    let tried = TRIED.get_or_init(|| attached(&Parties::default()).map(drop));
    tried.clone().map(|()| Vec::new())
}

/// Starts observing `parties`.
pub(super) fn arm(parties: &Parties) -> Result<Box<dyn Watch>, Unavailable> {
    Ok(Box::new(Sched { parties: parties.clone(), attached: attached(parties)? }))
}

fn attached(parties: &Parties) -> Result<Attached, Unavailable> {
    let members = constants(parties);
    let marking = parties.members.iter().filter(|member| member.scope != Scope::Daemon).count();
    let marking = u32::try_from(marking).unwrap_or(NOBODY);
    Attached::load(&OBJECT, |loader| {
        loader.override_global("members", &members[..], true);
        loader.override_global("marking_members", &marking, true);
        loader.override_global("mark", &MARK_CALL, true);
    })
}

/// Returns the value of `members` in the C source. A daemon has no thread that makes marks.
fn constants(parties: &Parties) -> [u32; 3 * bpf_layout::ROLES] {
    let mut constants = [NOBODY; 3 * bpf_layout::ROLES];
    for (constant, member) in constants.chunks_exact_mut(3).zip(&parties.members) {
        let tid = if member.scope == Scope::Daemon { NOBODY } else { member.tid };
        constant.copy_from_slice(&[member.pid, tid, scope(member)]);
    }
    constants
}

const fn scope(member: &Member) -> u32 {
    match member.scope {
        Scope::Thread => 0,
        Scope::Process => 1,
        Scope::Daemon => 2,
    }
}

#[derive(Debug)]
struct Sched {
    parties: Parties,
    attached: Attached,
}

impl Watch for Sched {
    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable> {
        let kept = self.attached.stop().section::<bpf_layout::Kept>(".bss")?;
        let observations = roles::observations(&self.parties, &bpf_layout::Told::of(&kept));
        if observations.is_empty() {
            return Err(Unavailable {
                reason: format!("no party has called {MARK} twice"),
                remedy: "look for the failure of the run".to_owned(),
            });
        }
        Ok(observations)
    }
}
