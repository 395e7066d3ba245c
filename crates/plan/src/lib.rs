//! Plan: every cell of the matrix, resolved against this machine before anything runs.

mod block_order;
mod cell;
mod cell_count;
pub mod children;
mod custom;
mod error;
mod factor;
mod factor_error;
pub mod machine;
mod matrix;
mod merge;
mod message_options;
mod options;
mod parsed;
pub mod program_file;
mod request;
mod spelling;
mod stopping_rule;
mod stored;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod total;
mod twins;
mod typed;
mod watched;
mod watchers;

pub use block_order::block_order;
pub use cell::{Case, Cause, Refused, obstacle};
pub use cell_count::MOST_CELLS;
pub use custom::{
    CustomFiles, answer_for_library, custom_in, custom_name, custom_sha256, options_prefix,
    shortest_custom,
};
pub use error::Error;
pub use factor::Factor;
pub use factor_error::{FactorError, Reason};
pub use ipcperf_engine::placement::Topology;
pub use options::{option_names, takes_sizes};
pub use parsed::ParsedRequest;
pub use request::{LONGEST_DEADLINE_S, Request, SurveyLength};
pub use spelling::{mechanism_names, unknown};
pub use stopping_rule::{Enough, LONGEST_MOST_S};
pub use total::Total;
pub use typed::{OptionSetting, Typed, TypedHandling, Words};
pub use watched::{Grouping, Watched};
pub use watchers::{Events, Extent, Unwatched};

/// Name under which the command starts itself to inspect a library, which may crash that process.
pub const LIBRARY: &str = "library";

use std::time::Duration;

use cell::Naming;
use ipcperf_engine::channel::{Mechanism, Nearness, nearness};
use ipcperf_engine::mechanism::RequestedMechanism;
use ipcperf_model::Gate;

/// Time of a run besides its sample: starting processes, touching memory, calibration.
const OVERHEAD: Duration = Duration::from_millis(8);
/// Time of the two cache-line probes around a run on two CPUs.
const PROBES: Duration = Duration::from_millis(10);
/// Duration of a calibrated sample.
const SAMPLE: Duration = Duration::from_millis(22);
/// Time to start and stop the instruments of a run.
const ARMING: Duration = Duration::from_millis(100);
/// Assumed bandwidth where a total is given: 1 GB/s.
const ASSUMED_BYTES_PER_NS: u64 = 1;

/// Cases that will be run, and the parts of the request that will not.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Cases, in the order of the request.
    pub cases: Vec<Case>,
    /// Cells that exceed a limit of the mechanism, the mode or the machine.
    pub refused: Vec<Refused>,
    /// Mechanisms that are unavailable here, with the reason and the remedy.
    pub unavailable: Vec<Absent>,
    /// Instruments, or events of instruments, that are unavailable here.
    pub unwatched: Vec<Unwatched>,
    /// Rule for when a case has been repeated often enough.
    pub enough: Enough,
    /// Maximum number of attempts for one repetition, until a run is undisturbed.
    pub attempts: u32,
    /// Seed that shuffles the blocks.
    pub seed: u64,
    /// Maximum duration of a run.
    pub deadline: Duration,
}

/// Treatment of cells if none of their instruments is available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unwatchable {
    /// They are measured without instruments: they were also requested for their own sake.
    Measured,
    /// They are left out: without the instruments they serve no purpose.
    LeftOut,
}

/// Mechanism that is unavailable here.
#[derive(Clone, Debug)]
pub struct Absent {
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
        Self::part(request, Naming::Usual, Unwatchable::Measured, topology)?.has_something_to_run()
    }

    /// Resolves `request` like [`Self::resolve`], but accepts a plan with nothing to run.
    fn part(
        request: &Request,
        naming: Naming,
        unwatchable: Unwatchable,
        topology: &Topology,
    ) -> Result<Self, Error> {
        let (available, unavailable) = sort_out(&request.mechanisms);
        let cells = matrix::cells(request, &available, naming, topology)?;
        let (mut watchers, mut unwatched) =
            watchers::sort_out(&request.instruments, &request.events)?;
        let nobody_watches = !request.instruments.is_empty() && watchers.is_empty();
        let are_left_out = nobody_watches && unwatchable == Unwatchable::LeftOut;
        let of_each = watched::cases_of_each(&watchers, request.grouping);
        cell_count::check_count(cells.len().saturating_mul(of_each))?;
        if naming == Naming::InFull {
            watchers::named_by_events(&mut watchers, &request.events);
        }
        if are_left_out {
            let count = cells.iter().filter(|cell| cell.is_ok()).count();
            unwatched.iter_mut().for_each(|missing| missing.cells_left_out = count);
        }
        let (mut cases, mut refused) = (Vec::new(), Vec::new());
        for cell in cells {
            match cell {
                Ok(_) if are_left_out => {}
                Ok(case) => cases.extend(twins::watched(case, &watchers, request.grouping)),
                Err(refusal) => refused.push(refusal),
            }
        }
        Ok(Self {
            cases,
            refused,
            unavailable,
            unwatched,
            enough: request.enough.clone(),
            attempts: request.attempts,
            seed: request.seed,
            deadline: request.deadline,
        })
    }

    fn has_something_to_run(self) -> Result<Self, Error> {
        if !self.cases.is_empty() {
            return Ok(self);
        }
        let left_out = self.unwatched.iter().filter(|missing| missing.cells_left_out > 0);
        let left_out: Vec<String> =
            left_out.map(|missing| format!("{}: {}", missing.instrument, missing.why)).collect();
        if !left_out.is_empty() {
            return Err(Error::NothingRuns(left_out.join("; ")));
        }
        let is_missing = |refused: &&Refused| refused.cause == Cause::Missing;
        let (missing, limited): (Vec<_>, Vec<_>) = self.refused.iter().partition(is_missing);
        if let Some(refused) = limited.first() {
            let count = self.refused.len();
            let words = format!("every cell is refused ({count}); the first: {refused}");
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
        let Enough::Repetitions(most) = self.enough else {
            return Err(Error::usage(
                "--until-decided: the study repeats its cases until_ci; leave one of the two out",
            ));
        };
        self.enough = Enough::UntilDecided(ipcperf_model::Looks::up_to(most));
        Ok(self)
    }

    /// Number of blocks: the first one, which is excluded, and one for each repetition; with `--until-ci`, the
    /// maximum.
    pub fn blocks(&self) -> u32 {
        self.enough.most_repetitions().saturating_add(1)
    }

    /// Number of blocks that hold every case.
    pub fn whole_blocks(&self) -> u32 {
        self.enough.least_repetitions().saturating_add(1)
    }

    /// Total number of runs, without retries and, with `--until-ci`, without those beyond the minimum.
    pub fn runs(&self) -> u64 {
        self.cases.len() as u64 * u64::from(self.whole_blocks())
    }

    /// Returns a rough estimate of the total duration.
    pub fn estimate(&self) -> Duration {
        let one_block: Duration = self.cases.iter().map(estimate_run).sum();
        one_block.saturating_mul(self.whole_blocks())
    }
}

fn estimate_run(case: &Case) -> Duration {
    let sample = case
        .spec
        .total_bytes
        .map_or(SAMPLE, |total| Duration::from_nanos(total / ASSUMED_BYTES_PER_NS));
    let probes = match nearness(&case.spec) {
        Nearness::Apart => PROBES,
        Nearness::OneCpu | Nearness::Unpinned => Duration::ZERO,
    };
    let arming = match case.spec.gate {
        Gate::Closed => ARMING,
        Gate::Open => Duration::ZERO,
    };
    OVERHEAD + probes + arming + sample
}

fn sort_out(asked: &[RequestedMechanism]) -> (Vec<Mechanism<'_>>, Vec<Absent>) {
    let (mut available, mut unavailable) = (Vec::new(), Vec::new());
    for mechanism in asked.iter().map(RequestedMechanism::mechanism) {
        match mechanism.available() {
            Ok(()) => available.push(mechanism),
            Err(why) => unavailable.push(Absent {
                mechanism: mechanism.name.to_owned(),
                reason: why.reason,
                remedy: why.remedy,
            }),
        }
    }
    (available, unavailable)
}
