//! Attaches the BPF programs to the traceable functions and reads their maps after the run.

use std::sync::OnceLock;

use aya::Btf;
use ipcperf_model::Unavailable;
use ipcperf_model::observation::Observation;

use super::bpf_layout::{FunctionRowKey, FunctionsBss, RawFunctionRow};
use super::table::{Candidates, DATA_PATH_FUNCTIONS, MARK_FUNCTION, MAX_FUNCTIONS};
use crate::bpf::{AttachedPrograms, BpfObject, MemberConstants};
use crate::{Member, Scope, Targets, Watch};

const OBJECT: BpfObject =
    BpfObject { bytes: aya::include_bytes_aligned!("../bpf/functions.bpf.o"), programs: &[] };

/// Checks availability with an empty list of members. The answer is cached for the life of the process.
pub(super) fn available() -> Result<Vec<Unavailable>, Unavailable> {
    static CACHED: OnceLock<Result<Vec<Unavailable>, Unavailable>> = OnceLock::new();
    let tried = || FunctionWatch::new(&[], DATA_PATH_FUNCTIONS).map(|watch| watch.missing);
    CACHED.get_or_init(tried).clone()
}

/// Starts observing `targets`.
pub(super) fn arm(targets: &Targets) -> Result<Box<dyn Watch>, Unavailable> {
    Ok(Box::new(FunctionWatch::new(&targets.members, DATA_PATH_FUNCTIONS)?))
}

/// The attached BPF programs, the members that they count for, and the functions that they trace.
#[derive(Debug)]
pub(super) struct FunctionWatch {
    attached: AttachedPrograms,
    members: Vec<Member>,
    /// Name of each function on this kernel, by the number of its programs; `None` if it is not traceable.
    functions: Vec<Option<&'static str>>,
    /// Reasons why functions are not traceable.
    pub(super) missing: Vec<Unavailable>,
}

impl FunctionWatch {
    /// Observes `members` in those functions of `carriers` that are traceable.
    pub(super) fn new(members: &[Member], requested: &[Candidates]) -> Result<Self, Unavailable> {
        let constants = MemberConstants::from_members(members)?;
        let (attached, tried) = AttachedPrograms::load_with(
            &OBJECT,
            |loader| constants.apply_to(loader, &["shared_rows", "shared_stacks"]),
            |attached, kernel| attach(attached, requested, kernel),
        )?;
        let functions: Vec<_> = tried.iter().map(|tried| tried.as_ref().ok().copied()).collect();
        let missing: Vec<_> = tried.into_iter().filter_map(Result::err).collect();
        if missing.len() == functions.len() && !missing.is_empty() {
            return Err(missing[0].clone());
        }
        Ok(Self { attached, members: members.to_vec(), functions, missing })
    }
}

/// Attaches to each of `carriers` and returns its name on this kernel, or the reason why it is not traceable. Fails if
/// the mark is not traceable, because nothing is counted without it.
fn attach(
    attached: &mut AttachedPrograms,
    functions: &[Candidates],
    kernel: &Btf,
) -> Result<Vec<Result<&'static str, Unavailable>>, Unavailable> {
    attached.attach_to_function(&["handle_mark"], MARK_FUNCTION, kernel)?;
    let tried = functions.iter().take(MAX_FUNCTIONS).enumerate().map(|(number, candidates)| {
        let programs = [format!("handle_fexit{number}"), format!("handle_fentry{number}")];
        attached.attach_to_function(&programs.each_ref().map(String::as_str), candidates, kernel)
    });
    Ok(tried.collect())
}

impl Watch for FunctionWatch {
    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable> {
        let Self { attached, members, functions, .. } = *self;
        let maps = attached.detach();
        let bss = maps.read_section::<FunctionsBss>(".bss")?;
        let shared = maps.read_entries::<FunctionRowKey, RawFunctionRow>("shared_rows")?;
        check_complete(&bss)?;
        let mut observations = Vec::new();
        for (at, member) in members.iter().enumerate() {
            let generation = match member.scope {
                Scope::Daemon => bss.last_generation(),
                _ => bss.generation(at),
            };
            let role = Some(member.role.as_str());
            for (number, row) in bss.rows_of(at, generation, &shared) {
                let function = functions.get(number).copied().flatten();
                let observation =
                    function.map(|function| Observation::from_row(role, &row.row(function)));
                observations.extend(observation);
            }
        }
        Ok(observations)
    }
}

/// Returns an error if a mark was not reported, or if calls were lost because a map was full.
fn check_complete(bss: &FunctionsBss) -> Result<(), Unavailable> {
    let (reason, remedy) = if bss.has_missing_mark() {
        ("the kernel lost an event that marks a phase".to_owned(), "repeat the run")
    } else if bss.lost > 0 {
        let reason =
            format!("{} calls of other threads were not counted: a BPF map is full", bss.lost);
        (reason, "observe a case with fewer threads, or with fewer phases: set --total")
    } else {
        return Ok(());
    };
    Err(Unavailable { reason, remedy: remedy.to_owned() })
}
