//! Plan: every cell of the matrix, resolved against this machine before anything runs.

mod block_order;
mod case_instruments;
mod cell;
mod cell_count;
pub mod children;
mod custom;
mod error;
mod estimate;
mod factor;
mod factor_error;
mod instruments;
mod knee;
pub mod machine;
mod matrix;
mod merge;
mod message_options;
mod options;
mod pacing;
mod parsed;
mod peers;
mod prefixes;
pub mod program_file;
mod request;
mod retries;
mod spelling;
mod stopping_rule;
mod stored;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod total;
mod twins;
mod typed;

pub use block_order::{block_order, schedule_seed};
pub use case_instruments::{CaseInstruments, Grouping};
pub use cell::{Case, RefusalCause, RefusedCell, find_obstacle};
pub use cell_count::MAX_CELLS;
pub use custom::{
    CustomFiles, custom_name, custom_relative_to, custom_sha256, normalized_custom, options_prefix,
    print_library_facts,
};
pub use error::Error;
pub use factor::Factor;
pub use factor_error::{FactorError, Reason};
pub use instruments::{Events, MissingPart, UnavailableInstrument};
pub use ipcperf_engine::placement::Topology;
pub use options::{has_sizes, option_names};
pub use parsed::ParsedRequest;
pub use request::{MAX_TIMEOUT_S, Request, SurveyLength};
pub use spelling::{mechanism_names, unknown_word_error};
pub use stopping_rule::{MAX_TIME_LIMIT_S, StoppingRule};
pub use total::Total;
pub use typed::{
    OptionSetting, TypedKnee, TypedLevels, TypedMessageOptions, TypedPacing, TypedPeers,
    TypedPrefixes, TypedRequest,
};

/// Name under which the command starts itself to inspect a library, which may crash that process.
pub const DESCRIBE_LIBRARY: &str = "library";

use std::time::Duration;

use cell::Naming;
use ipcperf_engine::channel::Mechanism;
use ipcperf_engine::mechanism::RequestedMechanism;
use ipcperf_model::knee::KneeSearch;

/// Cases that will be run, and the parts of the request that will not.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Cases, in the order of the request.
    pub cases: Vec<Case>,
    /// Search for the knee of each case, after its unpaced runs.
    pub knee: Option<KneeSearch>,
    /// Cells that exceed a limit of the mechanism or the mode, or need what the machine lacks.
    pub refused: Vec<RefusedCell>,
    /// Mechanisms that are unavailable here, with the reason and the remedy.
    pub unavailable: Vec<UnavailableMechanism>,
    /// Instruments, or events of instruments, that are unavailable here.
    pub unavailable_instruments: Vec<UnavailableInstrument>,
    /// Rule for when a case has been repeated often enough.
    pub stopping_rule: StoppingRule,
    /// Maximum number of attempts for one repetition, until a run is undisturbed.
    pub attempts: u32,
    /// Seed that shuffles the blocks.
    pub seed: u64,
    /// Maximum duration of a run.
    pub timeout: Duration,
}

/// Treatment of cells if none of their instruments is available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WithoutInstruments {
    /// They are measured without instruments: they were also requested for their own sake.
    Measured,
    /// They are left out: without the instruments they serve no purpose.
    LeftOut,
}

/// Mechanism that is unavailable here.
#[derive(Clone, Debug)]
pub struct UnavailableMechanism {
    /// Name of the mechanism.
    pub mechanism: String,
    /// Missing component.
    pub reason: String,
    /// Remedy.
    pub remedy: String,
}

impl Plan {
    /// Resolves `request` against this machine.
    ///
    /// # Errors
    /// Returns a usage error for a CPU outside the cpuset or if every cell is refused, and nothing-runs if no
    /// requested mechanism is available.
    pub fn resolve(request: &Request, topology: &Topology) -> Result<Self, Error> {
        Self::resolve_part(request, Naming::Short, WithoutInstruments::Measured, topology)?
            .require_cases()
    }

    /// Resolves `request` like [`Self::resolve`], but accepts a plan with nothing to run.
    fn resolve_part(
        request: &Request,
        naming: Naming,
        without_instruments: WithoutInstruments,
        topology: &Topology,
    ) -> Result<Self, Error> {
        check_observed_peers(request)?;
        let (available, unavailable) = split_available(&request.mechanisms);
        let cells = matrix::cells(request, &available, naming, topology)?;
        let (mut parts, mut unavailable_instruments) =
            instruments::check_availability(&request.instruments, &request.events)?;
        let has_no_instrument = !request.instruments.is_empty() && parts.is_empty();
        let are_left_out = has_no_instrument && without_instruments == WithoutInstruments::LeftOut;
        let of_each = case_instruments::cases_per_cell(&parts, request.grouping);
        cell_count::check_count(cells.len().saturating_mul(of_each))?;
        if naming == Naming::Full {
            instruments::set_name_events(&mut parts, &request.events);
        }
        if are_left_out {
            let count = cells.iter().filter(|cell| cell.is_ok()).count();
            unavailable_instruments.iter_mut().for_each(|missing| missing.cells_left_out = count);
        }
        let (mut cases, mut refused) = (Vec::new(), Vec::new());
        for cell in cells {
            match cell {
                Ok(_) if are_left_out => {}
                Ok(case) => cases.extend(twins::add_instruments(case, &parts, request.grouping)),
                Err(refusal) => refused.push(refusal),
            }
        }
        let knee = request.pacing.knee_search();
        if let Some(search) = &knee {
            refused.extend(knee::drop_unpaceable(&mut cases, search, &available));
        }
        Ok(Self {
            cases,
            knee,
            refused,
            unavailable,
            unavailable_instruments,
            stopping_rule: request.stopping_rule.clone(),
            attempts: request.attempts,
            seed: request.seed,
            timeout: request.timeout,
        })
    }

    fn require_cases(self) -> Result<Self, Error> {
        if !self.cases.is_empty() {
            return Ok(self);
        }
        let left_out =
            self.unavailable_instruments.iter().filter(|missing| missing.cells_left_out > 0);
        let left_out: Vec<String> =
            left_out.map(|missing| format!("{}: {}", missing.instrument, missing.why)).collect();
        if !left_out.is_empty() {
            return Err(Error::NothingRuns(left_out.join("; ")));
        }
        let is_missing = |refused: &&RefusedCell| refused.cause == RefusalCause::Missing;
        let (missing, limited): (Vec<_>, Vec<_>) = self.refused.iter().partition(is_missing);
        if let Some(refused) = limited.first() {
            let words = match self.refused.len() {
                1 => format!("the case is refused: {refused}"),
                count => format!("all {count} cases are refused; the first: {refused}"),
            };
            return Err(Error::usage(words));
        }
        let absent = self
            .unavailable
            .iter()
            .map(|absent| format!("{}: {} ({})", absent.mechanism, absent.reason, absent.remedy));
        let mut reasons: Vec<String> =
            absent.chain(missing.iter().map(|refused| refused.reason.clone())).collect();
        reasons.dedup();
        Err(Error::NothingRuns(reasons.join("; ")))
    }

    /// Changes the plan so that each case is repeated only until the claims that need it are decided, and at most
    /// as often as before.
    ///
    /// # Errors
    /// Returns a usage error if the plan repeats until medians are precise enough.
    pub fn until_decided(mut self) -> Result<Self, Error> {
        let StoppingRule::Repetitions(max) = self.stopping_rule else {
            return Err(Error::usage(
                "--until-decided cannot be combined with the key until_ci of the study; leave out one of the two",
            ));
        };
        self.stopping_rule =
            StoppingRule::UntilDecided(ipcperf_model::Looks::with_max_repetitions(max));
        Ok(self)
    }

    /// Number of blocks: the first one, which is excluded, and one for each repetition; with `--until-ci`, the
    /// maximum.
    pub fn blocks(&self) -> u32 {
        self.stopping_rule.max_repetitions().saturating_add(1)
    }

    /// Number of blocks that hold every case.
    pub fn full_blocks(&self) -> u32 {
        self.stopping_rule.min_repetitions().saturating_add(1)
    }

    /// Total number of runs, without retries and, with `--until-ci`, without those beyond the minimum.
    pub fn runs(&self) -> u64 {
        self.cases.len() as u64 * u64::from(self.full_blocks())
    }

    /// Returns a rough estimate of the total duration.
    pub fn estimate(&self) -> Duration {
        let one_block: Duration =
            self.cases.iter().map(|case| estimate::estimate_run(&case.spec)).sum();
        one_block.saturating_mul(self.full_blocks())
    }
}

fn split_available(
    requested: &[RequestedMechanism],
) -> (Vec<Mechanism<'_>>, Vec<UnavailableMechanism>) {
    let (mut available, mut unavailable) = (Vec::new(), Vec::new());
    for mechanism in requested.iter().map(RequestedMechanism::mechanism) {
        match mechanism.available() {
            Ok(()) => available.push(mechanism),
            Err(why) => unavailable.push(UnavailableMechanism {
                mechanism: mechanism.name.to_owned(),
                reason: why.reason,
                remedy: why.remedy,
            }),
        }
    }
    (available, unavailable)
}

/// Checks that no instrument would observe several peers: instruments distinguish roles, but not the peers of a role.
///
/// # Errors
/// Returns a usage error with the workload.
fn check_observed_peers(request: &Request) -> Result<(), Error> {
    match peers::with_several(&request.workloads).filter(|_| !request.instruments.is_empty()) {
        None => Ok(()),
        Some(workload) => Err(Error::usage(format!(
            "instruments observe one sender and one receiver, so they do not apply to -w {}",
            workload.name()
        ))),
    }
}
