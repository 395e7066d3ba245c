//! What comes of comparing mechanisms: a ranking, or why there is none.

use ipcperf_engine::handling::Handling;
use ipcperf_engine::workload::Kind;

use super::{CaseSummary, Mode, Roof};

/// What came of comparing the mechanisms at one placement and size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Comparison {
    /// Two or more were measured in one class of CPU pair.
    Ranked(Ranking),
    /// No two were: nothing can be said of which is better.
    Refused(Refused),
    /// What was set aside may be better than all that counts, or nothing counts.
    Undecided(Undecided),
}

impl Comparison {
    /// The size of what was compared.
    pub(crate) const fn buffer_bytes(&self) -> u64 {
        match self {
            Self::Ranked(ranking) => ranking.buffer_bytes,
            Self::Refused(refused) => refused.buffer_bytes,
            Self::Undecided(undecided) => undecided.buffer_bytes,
        }
    }
}

/// Why mechanisms were not compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refused {
    pub(crate) workload: Kind,
    pub(crate) placement: String,
    pub(crate) buffer_bytes: u64,
    /// What was done with messages.
    pub(crate) handling: Handling,
    /// Each with the class in which it was measured.
    pub(crate) measured: Vec<(String, String)>,
}

/// The winner of one comparison between two or more, all at the same distance between the CPUs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ranking {
    pub(crate) workload: Kind,
    pub(crate) placement: String,
    /// The class of CPU pair in which they were measured.
    pub(crate) class: Option<String>,
    pub(crate) buffer_bytes: u64,
    /// What was done with messages.
    pub(crate) handling: Handling,
    pub(crate) best: Contender,
    pub(crate) second: Contender,
    /// By what factor the best is ahead of the second; `None` where either has several modes.
    pub(crate) factor: Option<f64>,
    /// Those that were measured in other classes only, and so are not compared.
    pub(crate) elsewhere: Vec<String>,
    /// Those of which too few repetitions count to be ranked, none of which looked better than the best.
    pub(crate) left_out: Vec<LeftOut>,
}

/// One of those compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Contender {
    pub(crate) name: String,
    pub(crate) median: f64,
    /// Its modes, where there are several.
    pub(crate) modes: Vec<Mode>,
    /// What limits it.
    pub(crate) roof: Option<Roof>,
}

/// Why no winner is named: too few repetitions of what may be the best count.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Undecided {
    pub(crate) workload: Kind,
    pub(crate) placement: String,
    /// The class of CPU pair in which the rest was measured.
    pub(crate) class: Option<String>,
    pub(crate) buffer_bytes: u64,
    /// What was done with messages.
    pub(crate) handling: Handling,
    /// The best of those that count; `None` where none does.
    pub(crate) best_counted: Option<Contender>,
    /// Those that looked better than it, or all that were left out where there is none.
    pub(crate) left_out: Vec<LeftOut>,
}

/// One that is not ranked, as fewer than half of its repetitions count.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LeftOut {
    pub(crate) name: String,
    /// Its runs after the first block.
    pub(crate) runs: usize,
    /// Those of them that were disturbed.
    pub(crate) disturbed: usize,
    /// Those of them that failed.
    pub(crate) failed: usize,
    /// The median of its runs that are set aside, in the unit of what is ranked.
    pub(crate) looked: Option<f64>,
}

impl Contender {
    fn of(case: &CaseSummary) -> Option<Self> {
        let median = case.main()?.spread().median;
        Some(Self { name: case.series(), median, modes: case.modes.clone(), roof: case.roof })
    }
}

/// Those of `cases` that have a figure, the best first.
pub(super) fn contenders(cases: &[&CaseSummary]) -> Vec<Contender> {
    let mut ranked: Vec<Contender> = cases.iter().filter_map(|c| Contender::of(c)).collect();
    ranked.sort_by(|one, other| one.median.total_cmp(&other.median));
    if cases.first().is_some_and(|case| case.case.workload == Kind::Stream) {
        ranked.reverse();
    }
    ranked
}
