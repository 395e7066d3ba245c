//! Attaches the BPF programs to the traceable functions and reads their maps after the run.

use std::sync::OnceLock;

use aya::Btf;
use ipcperf_model::Unavailable;
use ipcperf_model::observation::Observation;

use super::bpf_layout::{Kept, KeptRow, SharedKey};
use super::table::{CARRIERS, Candidates, FUNCTIONS, MARK};
use crate::bpf::{Attached, Object, Watched};
use crate::{Member, Parties, Scope, Watch};

const OBJECT: Object =
    Object { bytes: aya::include_bytes_aligned!("../bpf/functions.bpf.o"), programs: &[] };

/// Checks availability with an empty list of members. The answer is cached for the life of the process.
pub(super) fn available() -> Result<Vec<Unavailable>, Unavailable> {
    static TRIED: OnceLock<Result<Vec<Unavailable>, Unavailable>> = OnceLock::new();
    let tried = || FunctionWatch::over(&[], CARRIERS).map(|watch| watch.missing);
    TRIED.get_or_init(tried).clone()
}

/// Starts observing `parties`.
pub(super) fn arm(parties: &Parties) -> Result<Box<dyn Watch>, Unavailable> {
    Ok(Box::new(FunctionWatch::over(&parties.members, CARRIERS)?))
}

/// The attached BPF programs, the members that they count for, and the functions that they trace.
#[derive(Debug)]
pub(super) struct FunctionWatch {
    attached: Attached,
    members: Vec<Member>,
    /// Name of each function on this kernel, by the number of its programs; `None` if it is not traceable.
    functions: Vec<Option<&'static str>>,
    /// Reasons why functions are not traceable.
    pub(super) missing: Vec<Unavailable>,
}

impl FunctionWatch {
    /// Observes `members` in those functions of `carriers` that are traceable.
    pub(super) fn over(members: &[Member], carriers: &[Candidates]) -> Result<Self, Unavailable> {
        let watched = Watched::of(members)?;
        let (attached, tried) = Attached::load_with(
            &OBJECT,
            |loader| watched.set(loader, &["shared_rows", "shared_stacks"]),
            |attached, kernel| attach(attached, carriers, kernel),
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
    attached: &mut Attached,
    carriers: &[Candidates],
    kernel: &Btf,
) -> Result<Vec<Result<&'static str, Unavailable>>, Unavailable> {
    attached.attach_to_function(&["marked"], MARK, kernel)?;
    let tried = carriers.iter().take(FUNCTIONS).enumerate().map(|(number, candidates)| {
        let programs = [format!("left{number}"), format!("entered{number}")];
        attached.attach_to_function(&programs.each_ref().map(String::as_str), candidates, kernel)
    });
    Ok(tried.collect())
}

impl Watch for FunctionWatch {
    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable> {
        let Self { attached, members, functions, .. } = *self;
        let stopped = attached.stop();
        let kept = stopped.section::<Kept>(".bss")?;
        let shared = stopped.entries::<SharedKey, KeptRow>("shared_rows")?;
        complete(&kept)?;
        let mut observations = Vec::new();
        for (at, member) in members.iter().enumerate() {
            let generation = match member.scope {
                Scope::Daemon => kept.last_generation(),
                _ => kept.generation(at),
            };
            let role = Some(member.role.as_str());
            for (number, row) in kept.rows_of(at, generation, &shared) {
                let function = functions.get(number).copied().flatten();
                let told = function.map(|function| Observation::of(role, &row.told(function)));
                observations.extend(told);
            }
        }
        Ok(observations)
    }
}

/// Returns an error if a mark was not reported, or if calls were lost because a map was full.
fn complete(kept: &Kept) -> Result<(), Unavailable> {
    let (reason, remedy) = if kept.lacks_a_mark() {
        ("the kernel did not tell of every mark".to_owned(), "run it again")
    } else if kept.lost > 0 {
        let reason = format!("{} calls of other threads found no room to be counted in", kept.lost);
        (reason, "watch a case with fewer threads or fewer phases: --total")
    } else {
        return Ok(());
    };
    Err(Unavailable { reason, remedy: remedy.to_owned() })
}
