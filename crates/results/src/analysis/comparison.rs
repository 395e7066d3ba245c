//! Result of a comparison of mechanisms: a ranking, or the reason why there is none.

use std::collections::HashSet;

use ipcperf_model::message_options::MessageOptions;
use ipcperf_model::workload::WorkloadKind;

use super::{CaseSummary, DistributionMode, HardwareLimitShare};

/// Number of CPUs that the best mechanism keeps busy in addition to those that the second keeps busy, from which on it is
/// said. One peer that spins instead of sleeping half of the time.
const BURNED_CPUS: f64 = 0.5;

/// Result of the comparison of mechanisms at one placement and size.
#[derive(Clone, Debug, PartialEq)]
pub enum Comparison {
    /// Two or more mechanisms were measured in one CPU distance class.
    Ranked(Ranking),
    /// No two mechanisms were, so they cannot be compared.
    Refused(RefusedComparison),
    /// Excluded runs look better than all valid ones, or there are no valid ones.
    Undecided(UndecidedComparison),
}

impl Comparison {
    /// Returns the traffic pattern that was compared.
    pub const fn workload(&self) -> WorkloadKind {
        match self {
            Self::Ranked(ranking) => ranking.workload,
            Self::Refused(refused) => refused.workload,
            Self::Undecided(undecided) => undecided.workload,
        }
    }

    /// Returns the CPU distance class of the mechanisms that were compared; `None` on one CPU, and if none were.
    pub const fn class(&self) -> Option<&String> {
        match self {
            Self::Ranked(ranking) => ranking.class.as_ref(),
            Self::Refused(_) => None,
            Self::Undecided(undecided) => undecided.class.as_ref(),
        }
    }

    /// Returns the placement of the peers.
    pub fn placement(&self) -> &str {
        match self {
            Self::Ranked(ranking) => &ranking.placement,
            Self::Refused(refused) => &refused.placement,
            Self::Undecided(undecided) => &undecided.placement,
        }
    }

    /// Returns the message options of all cases that were compared.
    pub const fn message_options(&self) -> MessageOptions {
        match self {
            Self::Ranked(ranking) => ranking.message_options,
            Self::Refused(refused) => refused.message_options,
            Self::Undecided(undecided) => undecided.message_options,
        }
    }

    /// Returns the message size that was compared, bytes.
    pub const fn buffer_bytes(&self) -> u64 {
        match self {
            Self::Ranked(ranking) => ranking.buffer_bytes,
            Self::Refused(refused) => refused.buffer_bytes,
            Self::Undecided(undecided) => undecided.buffer_bytes,
        }
    }
}

/// Comparison that is refused, because no two mechanisms share a CPU distance class.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedComparison {
    /// Traffic pattern.
    pub workload: WorkloadKind,
    /// Placement of the peers.
    pub placement: String,
    /// Message size, bytes.
    pub buffer_bytes: u64,
    /// Message options.
    pub message_options: MessageOptions,
    /// Mechanisms, each with the class in which it was measured.
    pub measured: Vec<(String, String)>,
}

/// Winner of a comparison of two or more mechanisms, all in the same CPU distance class.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// Traffic pattern.
    pub workload: WorkloadKind,
    /// Placement of the peers.
    pub placement: String,
    /// CPU distance class.
    pub class: Option<String>,
    /// Message size, bytes.
    pub buffer_bytes: u64,
    /// Message options.
    pub message_options: MessageOptions,
    /// Best mechanism.
    pub best: Contender,
    /// Second-best mechanism.
    pub second: Contender,
    /// Factor by which the best is ahead of the second; `None` if either has several modes.
    pub factor: Option<f64>,
    /// Mechanisms that were measured only in other classes, and so are not compared.
    pub other_classes: Vec<String>,
    /// Mechanisms with too few valid repetitions to be ranked, none of which looked better than the best.
    pub unranked: Vec<UnrankedMechanism>,
}

impl Ranking {
    /// Returns the CPU time of the best divided by that of the second; `None` if either is unknown or that of the second 0.
    #[must_use]
    pub fn cpu_factor(&self) -> Option<f64> {
        let times = self.best.cpu_ns_per_message.zip(self.second.cpu_ns_per_message);
        times.filter(|(_, second)| *second > 0.0).map(|(best, second)| best / second)
    }

    /// Returns how many CPUs the best and the second keep busy, if the best keeps at least [`BURNED_CPUS`] more busy: a
    /// lead that may be bought by spinning.
    #[must_use]
    pub fn burned_cpus(&self) -> Option<[f64; 2]> {
        let busy = self.best.busy_cpus.zip(self.second.busy_cpus);
        busy.filter(|(best, second)| best - second >= BURNED_CPUS).map(Into::into)
    }

    /// Whether all modes of one contender lie beyond all modes of the other. A figure without modes is one mode.
    #[must_use]
    pub fn modes_are_apart(&self) -> bool {
        let ([best_min, best_max], [second_min, second_max]) =
            (self.best.mode_range(), self.second.mode_range());
        best_max < second_min || second_max < best_min
    }
}

/// Mechanism in a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// Mechanism and options.
    pub name: String,
    /// Median of the compared figure.
    pub median: f64,
    /// Modes of the figure, if there are several.
    pub modes: Vec<DistributionMode>,
    /// Hardware limit that bounds it.
    pub hardware_limit: Option<HardwareLimitShare>,
    /// CPU time of a message, or round trip, of all roles together, ns.
    pub cpu_ns_per_message: Option<f64>,
    /// Number of CPUs that are busy on average: this CPU time divided by the elapsed time.
    pub busy_cpus: Option<f64>,
}

impl Contender {
    /// Returns the lowest and the highest median of its modes.
    fn mode_range(&self) -> [f64; 2] {
        if self.modes.is_empty() {
            return [self.median; 2];
        }
        let medians = || self.modes.iter().map(|mode| mode.median);
        [medians().fold(f64::INFINITY, f64::min), medians().fold(f64::NEG_INFINITY, f64::max)]
    }
}

/// Comparison without a winner, because the mechanism that may be the best has too few valid repetitions.
#[derive(Clone, Debug, PartialEq)]
pub struct UndecidedComparison {
    /// Traffic pattern.
    pub workload: WorkloadKind,
    /// Placement of the peers.
    pub placement: String,
    /// CPU distance class of the mechanisms that count.
    pub class: Option<String>,
    /// Message size, bytes.
    pub buffer_bytes: u64,
    /// Message options.
    pub message_options: MessageOptions,
    /// Best of the mechanisms that count; `None` if there are none.
    pub best_valid: Option<Contender>,
    /// Left-out mechanisms that looked better than it, or all left-out mechanisms if there is none.
    pub unranked: Vec<UnrankedMechanism>,
}

/// Mechanism that is not ranked, because fewer than half of its repetitions are valid.
#[derive(Clone, Debug, PartialEq)]
pub struct UnrankedMechanism {
    /// Mechanism and options.
    pub name: String,
    /// Number of runs after the first block, and of failed runs of all blocks.
    pub runs: usize,
    /// Number of these runs that were disturbed.
    pub disturbed: usize,
    /// Number of these runs that failed.
    pub failed: usize,
    /// Median of its excluded runs, in the unit of the ranked figure.
    pub excluded_median: Option<f64>,
}

impl Contender {
    fn from_summary(case: &CaseSummary) -> Option<Self> {
        let median = case.main()?.spread().median;
        let cpu_ns_per_message = case.cpu_ns_per_message.map(|spread| spread.median);
        let elapsed_ns = case.ns_per_message.map(|spread| spread.median);
        Some(Self {
            name: case.series(),
            median,
            modes: case.modes.clone(),
            hardware_limit: case.hardware_limit,
            cpu_ns_per_message,
            busy_cpus: cpu_ns_per_message.zip(elapsed_ns).map(|(cpu, elapsed)| cpu / elapsed),
        })
    }
}

/// Returns those of `cases` that have a figure, the best first. Of cases with the same name, which differ in something
/// that rankings do not compare, only the best is returned.
pub(super) fn contenders(cases: &[&CaseSummary]) -> Vec<Contender> {
    let mut ranked: Vec<Contender> =
        cases.iter().filter_map(|c| Contender::from_summary(c)).collect();
    ranked.sort_by(|one, other| one.median.total_cmp(&other.median));
    if cases.first().is_some_and(|case| case.case.workload.is_streamed()) {
        ranked.reverse();
    }
    let mut seen = HashSet::new();
    ranked.retain(|contender| seen.insert(contender.name.clone()));
    ranked
}
