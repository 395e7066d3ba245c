//! Loads the BPF programs with the list of members to observe, and reads their maps after the run.

use std::sync::OnceLock;

use ipcperf_model::Unavailable;
use ipcperf_model::observation::Observation;

use super::bpf_layout::{MAX_NUMBERS, RawSyscallRow, SyscallRowKey, SyscallsBss, rows_of};
use crate::bpf::{AttachedPrograms, BpfObject, MARK_SYSCALL_NR, MemberConstants};
use crate::syscall_table::length_arguments;
use crate::{Member, Scope, Targets, Watch};

const OBJECT: BpfObject = BpfObject {
    bytes: aya::include_bytes_aligned!("../bpf/syscalls.bpf.o"),
    programs: &[("handle_enter", "sys_enter"), ("handle_exit", "sys_exit")],
};

/// Checks availability by observing this process. The answer is cached for the life of the process.
pub(super) fn available() -> Result<Vec<Unavailable>, Unavailable> {
    static CACHED: OnceLock<Result<(), Unavailable>> = OnceLock::new();
    let pid = std::process::id();
    let member = Member { role: "both".to_owned(), pid, tid: pid, scope: Scope::Thread };
    let tried = CACHED.get_or_init(|| SyscallWatch::new(&[member]).map(drop));
    tried.clone().map(|()| Vec::new())
}

/// Starts observing `targets`.
pub(super) fn arm(targets: &Targets) -> Result<Box<dyn Watch>, Unavailable> {
    Ok(Box::new(SyscallWatch::new(&targets.members)?))
}

/// The attached BPF programs and the members that they count for.
#[derive(Debug)]
struct SyscallWatch {
    attached: AttachedPrograms,
    members: Vec<Member>,
}

impl SyscallWatch {
    fn new(members: &[Member]) -> Result<Self, Unavailable> {
        let (constants, lengths) =
            (MemberConstants::from_members(members)?, length_arguments::<MAX_NUMBERS>());
        let attached = AttachedPrograms::load(&OBJECT, |loader| {
            constants.apply_to(loader, &["shared_rows", "shared_calls"]);
            loader.override_global("mark", &MARK_SYSCALL_NR, true);
            loader.override_global("lengths", &lengths, true);
        })?;
        Ok(Self { attached, members: members.to_vec() })
    }
}

impl Watch for SyscallWatch {
    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable> {
        let Self { attached, members } = *self;
        let maps = attached.detach();
        let bss = maps.read_section::<SyscallsBss>(".bss")?;
        let shared = maps.read_entries::<SyscallRowKey, RawSyscallRow>("shared_rows")?;
        check_complete(&bss)?;
        let last = bss.threads.iter().map(|thread| thread.call.generation).max().unwrap_or(0);
        let mut observations = Vec::new();
        for (at, member) in members.iter().enumerate() {
            let generation = match member.scope {
                Scope::Daemon => last,
                _ => bss.threads[at].call.generation,
            };
            let rows = rows_of(at, generation, &bss, &shared);
            let role = Some(member.role.as_str());
            observations.extend(rows.iter().map(|row| Observation::from_row(role, row)));
        }
        Ok(observations)
    }
}

/// Returns an error if calls were lost because a map was full.
fn check_complete(bss: &SyscallsBss) -> Result<(), Unavailable> {
    match bss.lost {
        0 => Ok(()),
        lost => Err(Unavailable {
            reason: format!("{lost} calls of other threads were not counted: a BPF map is full"),
            remedy: "observe a case with fewer threads, or with fewer phases: set --total"
                .to_owned(),
        }),
    }
}
