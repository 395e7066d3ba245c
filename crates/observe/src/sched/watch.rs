//! Attaches the programs to three scheduler events and to system call entry, and reads their results.

mod bpf_layout;
mod roles;
mod timeline;

use std::sync::OnceLock;

use ipcperf_model::Unavailable;
use ipcperf_model::observation::Observation;

use crate::bpf::{AttachedPrograms, BpfObject, MARK_SYSCALL_NR};
use crate::{MARK, Member, Scope, Targets, Watch};

const OBJECT: BpfObject = BpfObject {
    bytes: aya::include_bytes_aligned!("../bpf/sched.bpf.o"),
    programs: &[
        ("handle_switch", "sched_switch"),
        ("handle_waking", "sched_waking"),
        ("handle_wakeup", "sched_wakeup"),
        ("handle_enter", "sys_enter"),
    ],
};

/// ID that no thread has.
const NO_THREAD: u32 = u32::MAX;

/// Checks availability without observing anyone. The answer is cached for the life of the process. All events are
/// required: without one, the others are useless.
pub(super) fn available() -> Result<Vec<Unavailable>, Unavailable> {
    static CACHED: OnceLock<Result<(), Unavailable>> = OnceLock::new();
    let tried = CACHED.get_or_init(|| attach(&Targets::default()).map(drop));
    tried.clone().map(|()| Vec::new())
}

/// Starts observing `targets`.
pub(super) fn arm(targets: &Targets) -> Result<Box<dyn Watch>, Unavailable> {
    Ok(Box::new(SchedWatch { targets: targets.clone(), attached: attach(targets)? }))
}

fn attach(targets: &Targets) -> Result<AttachedPrograms, Unavailable> {
    let members = member_constants(targets);
    let marking = targets.members.iter().filter(|member| member.scope != Scope::Daemon).count();
    let marking = u32::try_from(marking).unwrap_or(NO_THREAD);
    AttachedPrograms::load(&OBJECT, |loader| {
        loader.override_global("members", &members[..], true);
        loader.override_global("marking_members", &marking, true);
        loader.override_global("mark", &MARK_SYSCALL_NR, true);
    })
}

/// Returns the value of `members` in the C source. A daemon has no thread that makes marks.
fn member_constants(targets: &Targets) -> [u32; 3 * bpf_layout::MAX_ROLES] {
    let mut constants = [NO_THREAD; 3 * bpf_layout::MAX_ROLES];
    for (constant, member) in constants.chunks_exact_mut(3).zip(&targets.members) {
        let tid = if member.scope == Scope::Daemon { NO_THREAD } else { member.tid };
        constant.copy_from_slice(&[member.pid, tid, scope_code(member)]);
    }
    constants
}

const fn scope_code(member: &Member) -> u32 {
    match member.scope {
        Scope::Thread => 0,
        Scope::Process => 1,
        Scope::Daemon => 2,
    }
}

#[derive(Debug)]
struct SchedWatch {
    targets: Targets,
    attached: AttachedPrograms,
}

impl Watch for SchedWatch {
    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable> {
        let bss = self.attached.detach().read_section::<bpf_layout::SchedBss>(".bss")?;
        let observations =
            roles::observations(&self.targets, &bpf_layout::SchedResults::from_bss(&bss));
        if observations.is_empty() {
            return Err(Unavailable {
                reason: format!(
                    "no peer has called {MARK} at the start and at the end of the measured phase"
                ),
                remedy: "see why the run failed".to_owned(),
            });
        }
        Ok(observations)
    }
}
