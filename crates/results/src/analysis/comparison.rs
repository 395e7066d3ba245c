//! What comes of comparing mechanisms: a ranking, or why there is none.

use ipcperf_model::message_options::Handling;
use ipcperf_model::workload::Kind;

use super::{CaseSummary, Mode, Roof};

/// What came of comparing the mechanisms at one placement and size.
#[derive(Clone, Debug, PartialEq)]
pub enum Comparison {
    /// Two or more were measured in one class of CPU pair.
    Ranked(Ranking),
    /// No two were: nothing can be said of which is better.
    Refused(Refused),
    /// What was set aside may be better than all that counts, or nothing counts.
    Undecided(Undecided),
}

impl Comparison {
    /// The size of what was compared.
    pub const fn buffer_bytes(&self) -> u64 {
        match self {
            Self::Ranked(ranking) => ranking.buffer_bytes,
            Self::Refused(refused) => refused.buffer_bytes,
            Self::Undecided(undecided) => undecided.buffer_bytes,
        }
    }
}

/// Why mechanisms were not compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The workload.
    pub workload: Kind,
    /// The placement.
    pub placement: String,
    /// Size of the message.
    pub buffer_bytes: u64,
    /// What was done with messages.
    pub handling: Handling,
    /// Each with the class in which it was measured.
    pub measured: Vec<(String, String)>,
}

/// The winner of one comparison between two or more, all at the same distance between the CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The workload.
    pub workload: Kind,
    /// The placement.
    pub placement: String,
    /// The class of CPU pair in which they were measured.
    pub class: Option<String>,
    /// Size of the message.
    pub buffer_bytes: u64,
    /// What was done with messages.
    pub handling: Handling,
    /// The best mechanism.
    pub best: Contender,
    /// The next.
    pub second: Contender,
    /// By what factor the best is ahead of the second; `None` where either has several modes.
    pub factor: Option<f64>,
    /// Those that were measured in other classes only, and so are not compared.
    pub elsewhere: Vec<String>,
    /// Those of which too few repetitions count to be ranked, none of which looked better than the best.
    pub left_out: Vec<LeftOut>,
}

/// One of those compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// Mechanism and options.
    pub name: String,
    /// Median of the figure that is compared.
    pub median: f64,
    /// Its modes, where there are several.
    pub modes: Vec<Mode>,
    /// What limits it.
    pub roof: Option<Roof>,
}

/// Why no winner is named: too few repetitions of what may be the best count.
#[derive(Clone, Debug, PartialEq)]
pub struct Undecided {
    /// The workload.
    pub workload: Kind,
    /// The placement.
    pub placement: String,
    /// The class of CPU pair in which the rest was measured.
    pub class: Option<String>,
    /// Size of the message.
    pub buffer_bytes: u64,
    /// What was done with messages.
    pub handling: Handling,
    /// The best of those that count; `None` where none does.
    pub best_counted: Option<Contender>,
    /// Those that looked better than it, or all that were left out where there is none.
    pub left_out: Vec<LeftOut>,
}

/// One that is not ranked, as fewer than half of its repetitions count.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Mechanism and options.
    pub name: String,
    /// Its runs after the first block.
    pub runs: usize,
    /// Those of them that were disturbed.
    pub disturbed: usize,
    /// Those of them that failed.
    pub failed: usize,
    /// The median of its runs that are set aside, in the unit of what is ranked.
    pub looked: Option<f64>,
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
