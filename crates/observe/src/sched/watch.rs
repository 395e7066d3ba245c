//! Attaches the programs to three scheduler events and to system call entry, and reads their results. For a paced run,
//! keeps a journal of single events as well, which explains the slowest messages.

mod activity;
mod bpf_layout;
mod journal;
mod roles;
mod slow_messages;
mod timeline;

use std::sync::OnceLock;

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::sched::SlowMessagesRow;
use ipcperf_model::observation::Observation;

use self::activity::Activity;
use self::bpf_layout::SchedResults;
use self::journal::Journal;
use self::slow_messages::Explainer;
use crate::bpf::{AttachedPrograms, BpfObject, MARK_SYSCALL_NR};
use crate::{MARK, Member, PacedResult, RunResult, Scope, Targets, Watch};

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
    let (attached, unavailable) = attach(targets)?;
    Ok(Box::new(SchedWatch { targets: targets.clone(), attached, unavailable, paced: None }))
}

/// Attaches the programs. Returns with them the events of the journal that are not available here.
fn attach(targets: &Targets) -> Result<(AttachedPrograms, Vec<Unavailable>), Unavailable> {
    let members = member_constants(targets);
    let marking = targets.members.iter().filter(|member| member.scope != Scope::Daemon).count();
    let marking = u32::try_from(marking).unwrap_or(NO_THREAD);
    let pages = journal_pages(targets);
    AttachedPrograms::load_with(
        &OBJECT,
        |loader| {
            loader.override_global("members", &members[..], true);
            loader.override_global("marking_members", &marking, true);
            loader.override_global("mark", &MARK_SYSCALL_NR, true);
            loader.override_global("journal_pages", &pages, true);
            loader.map_max_entries("journal", pages.max(1));
        },
        |attached, kernel| {
            let own = journal::PROGRAMS.iter().filter(|_| pages > 0);
            let refused = own.filter_map(|(program, tracepoint)| {
                attached.attach_to_tracepoint(program, tracepoint, kernel).err()
            });
            Ok(refused.collect())
        },
    )
}

/// Number of pages of the journal; 0 if the run is not paced.
fn journal_pages(targets: &Targets) -> u32 {
    targets.paced_messages.map_or(0, journal::page_count)
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
    /// Events of the journal that are not available here.
    unavailable: Vec<Unavailable>,
    paced: Option<PacedResult>,
}

impl Watch for SchedWatch {
    fn set_run_result(&mut self, result: &RunResult) {
        self.paced.clone_from(&result.paced);
    }

    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable> {
        let Self { targets, attached, unavailable, paced } = *self;
        let maps = attached.detach();
        let bss = maps.read_section::<bpf_layout::SchedBss>(".bss")?;
        let results = SchedResults::from_bss(&bss);
        let mut observations = roles::observations(&targets, &results);
        if observations.is_empty() {
            return Err(Unavailable {
                reason: format!(
                    "no peer has called {MARK} at the start and at the end of the measured phase"
                ),
                remedy: "see why the run failed".to_owned(),
            });
        }
        if let Some(paced) = paced.filter(|paced| !paced.slow_messages.is_empty()) {
            let journal = Journal::read(&maps, journal_pages(&targets), results.journal_events)?;
            let row = explain(&targets, &results, &journal, &paced);
            let events = unavailable.into_iter().map(|event| event.reason).collect();
            let row = row.map(|row| SlowMessagesRow { unavailable_events: events, ..row });
            observations.extend(row.map(|row| Observation::from_row(None, &row)));
        }
        Ok(observations)
    }
}

/// Explains the slow messages of `paced`; `None` if there is no role that sends.
fn explain(
    targets: &Targets,
    results: &SchedResults,
    journal: &Journal,
    paced: &PacedResult,
) -> Option<SlowMessagesRow> {
    let members = targets.members.iter().zip(&results.windows).enumerate();
    let activities: Vec<Activity> = members
        .map(|(index, (member, window))| {
            Activity::new(&member.role, index, window, &journal.events)
        })
        .collect();
    let own_begins = results.windows.iter().filter(|window| window.is_closed());
    let origin_ns = own_begins.map(|window| window.begin_ns).min().unwrap_or_default();
    let explainer = Explainer::new(activities, journal.complete_from_ns, paced)?;
    Some(explainer.explain_all(&paced.slow_messages, origin_ns))
}
