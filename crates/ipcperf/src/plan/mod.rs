//! The plan: every cell of the matrix, resolved against this machine before anything runs.

mod cell;
mod enough;
mod handling;
mod looks;
mod matrix;
mod name;
mod order;
mod own;
mod request;
mod several;
mod size;
mod stored;
mod watched;
mod watchers;
mod words;

pub(crate) use cell::obstacle;
pub(crate) use cell::{Case, Cause, Refused};
pub(crate) use enough::{Enough, Precision};
pub(crate) use handling::TypedHandling;
pub(crate) use looks::Looks;
pub(crate) use matrix::MOST_CELLS;
pub(crate) use name::{CHOSEN, MESSAGES, NameParts, TOTAL, TWIN, WATCHED};
pub(crate) use order::block_order;
pub(crate) use own::{
    CustomFiles, answer_for_library, custom_in, custom_name, custom_sha256, options_prefix,
    shortest_custom,
};
pub(crate) use request::{Request, SurveyLength, Total, Typed};
pub(crate) use size::{
    Bytes, count_list as count_sizes, parse as parse_size, parse_list as parse_sizes,
};
pub(crate) use watched::{Grouping, Watched};
pub(crate) use watchers::{Events, Extent, Unwatched, check_events};
pub(crate) use words::{nearest, unknown};

use std::time::Duration;

use ipcperf_engine::mechanism::{Mechanism, Nearness};
use ipcperf_engine::placement::Topology;
use ipcperf_engine::worker::Gate;

use crate::error::Error;
use cell::Naming;

/// What a run costs beside its sample: starting processes, touching memory, calibration.
const OVERHEAD: Duration = Duration::from_millis(8);
/// The two cache-line probes around a run on two CPUs.
const PROBES: Duration = Duration::from_millis(10);
/// What a calibrated sample lasts.
const SAMPLE: Duration = Duration::from_millis(22);
/// What it takes to begin to watch a run, and to end it.
const ARMING: Duration = Duration::from_millis(100);
/// Where a total is given, it is taken to flow at 1 GB/s.
const ASSUMED_BYTES_PER_NS: u64 = 1;

/// What will be run, and what of the request will not.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The cases, in the order of the request.
    pub(crate) cases: Vec<Case>,
    /// Cells that a mechanism, a mode or the machine cannot carry.
    pub(crate) refused: Vec<Refused>,
    /// Mechanisms that cannot be used here, with the reason and the remedy.
    pub(crate) unavailable: Vec<Absent>,
    /// Instruments, or events of theirs, that cannot be had here.
    pub(crate) unwatched: Vec<Unwatched>,
    /// When a case has been measured often enough.
    pub(crate) enough: Enough,
    /// Runs made for one repetition at most, until one is undisturbed.
    pub(crate) attempts: u32,
    /// What shuffles the blocks.
    pub(crate) seed: u64,
    /// The most a run may last.
    pub(crate) deadline: Duration,
}

/// What becomes of cells none of whose instruments can watch here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unwatchable {
    /// They are measured all the same: they were asked for by themselves.
    Measured,
    /// They are left out: what they are for cannot be seen.
    LeftOut,
}

/// A mechanism that cannot be used here.
#[derive(Clone, Debug)]
pub(crate) struct Absent {
    pub(crate) mechanism: &'static str,
    pub(crate) reason: String,
    pub(crate) remedy: String,
}

impl Plan {
    /// Resolves `request` against this machine.
    ///
    /// # Errors
    /// Usage for a CPU outside the cpuset or where every cell is refused; nothing-runs where no
    /// mechanism that was asked for is available.
    pub(crate) fn resolve(request: &Request, topology: &Topology) -> Result<Self, Error> {
        Self::part(request, Naming::Usual, Unwatchable::Measured, topology)?.has_something_to_run()
    }

    /// As [`Self::resolve`], but it may have nothing to run.
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
        matrix::check_count(cells.len().saturating_mul(of_each))?;
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
                Ok(case) => cases.extend(watched::watched(case, &watchers, request.grouping)),
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

    /// The same plan, its cases repeated until the claims that need them are decided, but no more often.
    ///
    /// # Errors
    /// Usage where it repeats until medians are known.
    pub(crate) fn until_decided(mut self) -> Result<Self, Error> {
        let Enough::Repetitions(most) = self.enough else {
            return Err(Error::usage(
                "--until-decided: the study repeats its cases until_ci; leave one of the two out",
            ));
        };
        self.enough = Enough::UntilDecided(Looks::up_to(most));
        Ok(self)
    }

    /// Blocks: the one set aside and one for each repetition; with `--until-ci`, the most.
    pub(crate) fn blocks(&self) -> u32 {
        self.enough.most_repetitions().saturating_add(1)
    }

    /// Blocks that hold every case.
    pub(crate) fn whole_blocks(&self) -> u32 {
        self.enough.least_repetitions().saturating_add(1)
    }

    /// Runs in all, repeated ones and, with `--until-ci`, those beyond the least not counted.
    pub(crate) fn runs(&self) -> u64 {
        self.cases.len() as u64 * u64::from(self.whole_blocks())
    }

    /// How long all of it will take, roughly.
    pub(crate) fn estimate(&self) -> Duration {
        let one_block: Duration = self.cases.iter().map(estimate_run).sum();
        one_block.saturating_mul(self.whole_blocks())
    }
}

fn estimate_run(case: &Case) -> Duration {
    let sample = case
        .spec
        .total_bytes
        .map_or(SAMPLE, |total| Duration::from_nanos(total / ASSUMED_BYTES_PER_NS));
    let probes = match case.spec.nearness() {
        Nearness::Apart => PROBES,
        Nearness::OneCpu | Nearness::Unpinned => Duration::ZERO,
    };
    let arming = match case.spec.gate {
        Gate::Closed => ARMING,
        Gate::Open => Duration::ZERO,
    };
    OVERHEAD + probes + arming + sample
}

fn sort_out(asked: &[&'static Mechanism]) -> (Vec<&'static Mechanism>, Vec<Absent>) {
    let (mut available, mut unavailable) = (Vec::new(), Vec::new());
    for mechanism in asked.iter().copied() {
        match mechanism.available() {
            Ok(()) => available.push(mechanism),
            Err(why) => unavailable.push(Absent {
                mechanism: mechanism.name,
                reason: why.reason,
                remedy: why.remedy,
            }),
        }
    }
    (available, unavailable)
}

#[cfg(test)]
pub(crate) mod tests {
    use ipcperf_engine::RunSpec;
    use ipcperf_engine::placement::Placement;

    use super::Case;

    /// A case called `id`, for tests of what is decided about cases.
    pub(crate) fn case(id: &str) -> Case {
        let spec = RunSpec { cpus: Some([0, 0]), ..RunSpec::usual("pipe", 64) };
        let watched = super::Watched::default();
        let (name, matrices) = (super::NameParts::default(), Vec::new());
        Case { id: id.to_owned(), name, placement: Placement::Same, spec, watched, matrices }
    }
}
