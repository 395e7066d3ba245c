//! Columns of the survey's table: which figures they show, and which value is the best.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use ipcperf_model::size::Bytes;
use ipcperf_model::units;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_results::analysis::CaseSummary;

use super::scatter::MAX_RELATIVE_IQR;
use crate::wording::TIE_RATIO;

/// Placement on one CPU, and on two.
pub(super) const SAME: &str = "same";
const SPLIT: &str = "split";

/// Figure of a case that a column shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SurveyFigure {
    /// Mean round trip of this workload.
    RoundTrip(WorkloadKind),
    Percentile99(WorkloadKind),
    CpuTime(WorkloadKind),
    Bandwidth,
}

/// Importance of a column: whether it is left out if the terminal is too narrow for all columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Importance {
    /// Always shown.
    Essential,
    /// Left out if there is not enough room.
    LeftOutIfNarrow,
}

/// A column: one figure of the cases at one placement and size.
pub struct SurveyColumn<'a> {
    /// Heading on three lines: figure, size and placement.
    pub heading: String,
    /// Whether it may be left out.
    pub importance: Importance,
    figure: SurveyFigure,
    cases: Vec<&'a CaseSummary>,
    /// CPU distance class with most runs. Only its cases are compared.
    class: Option<&'a String>,
}

/// A cell of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyCell {
    /// Value with its unit, in parentheses if it is excluded from the comparison of the column. Without a value:
    /// `refused`, `failed` or `no valid run`.
    pub text: String,
    /// Whether the value is the best of its column, or tied with the best.
    pub is_best: bool,
    /// Reason to distrust the value.
    pub caution: Option<Caution>,
}

/// Reason to distrust a compared value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caution {
    /// The repetitions scatter, or fall into several modes.
    Scattered,
    /// Messages were lost.
    Lossy,
}

impl SurveyFigure {
    const fn name(self) -> &'static str {
        match self {
            Self::RoundTrip(WorkloadKind::RequestReply) => "request-reply",
            Self::RoundTrip(_) => "round trip",
            Self::Percentile99(_) => "p99",
            Self::CpuTime(_) => "CPU time",
            Self::Bandwidth => "bandwidth",
        }
    }

    const fn workload(self) -> WorkloadKind {
        match self {
            Self::RoundTrip(workload) | Self::Percentile99(workload) | Self::CpuTime(workload) => {
                workload
            }
            Self::Bandwidth => WorkloadKind::Stream,
        }
    }

    /// Returns the median of the valid runs of `case`, and the interquartile range divided by it. CPU time is the sum
    /// over the roles.
    fn median(self, case: &CaseSummary) -> Option<(f64, Option<f64>)> {
        let spread = match self {
            Self::RoundTrip(_) => case.round_trip_ns_mean,
            Self::Percentile99(_) => case.round_trip_ns_p99,
            Self::Bandwidth => case.bandwidth_bytes_per_s,
            Self::CpuTime(_) => {
                return case.cpu_ns_per_message.map(|spread| (spread.median, None));
            }
        }?;
        Some((spread.median, spread.relative_iqr()))
    }

    fn format(self, value: f64) -> String {
        match self {
            Self::RoundTrip(_) | Self::Percentile99(_) | Self::CpuTime(_) => units::time(value),
            Self::Bandwidth => units::bandwidth(value),
        }
    }

    /// Compares two values: the better one is less.
    fn compare(self, one: f64, other: f64) -> Ordering {
        match self {
            Self::RoundTrip(_) | Self::Percentile99(_) | Self::CpuTime(_) => one.total_cmp(&other),
            Self::Bandwidth => other.total_cmp(&one),
        }
    }
}

/// Returns the workload whose round trips are shown: request-reply only if there are no round trips.
pub(super) fn answered_workload(cases: &[&CaseSummary]) -> WorkloadKind {
    let has = |workload| cases.iter().any(|case| case.case.workload == workload);
    match (has(WorkloadKind::RoundTrip), has(WorkloadKind::RequestReply)) {
        (false, true) => WorkloadKind::RequestReply,
        _ => WorkloadKind::RoundTrip,
    }
}

/// Returns the placement of most columns: two CPUs; one CPU if none was measured on two; otherwise the first.
pub(super) fn main_placement<'a>(cases: &[&'a CaseSummary]) -> Option<&'a str> {
    let placements = || {
        let measured = cases.iter().filter(|case| case.refused.is_none());
        measured.map(|case| case.case.placement.as_str())
    };
    let find = |wanted: &str| placements().find(|placement| *placement == wanted);
    find(SPLIT).or_else(|| find(SAME)).or_else(|| placements().next())
}

/// Returns the columns for `cases`: round trips at the smallest size, on one CPU and on two, and bandwidths at the two
/// largest sizes, on two CPUs or, if the machine has only one, on that. Columns without a value are left out.
pub(super) fn survey_columns<'a>(cases: &[&'a CaseSummary]) -> Vec<SurveyColumn<'a>> {
    use Importance::{Essential, LeftOutIfNarrow};
    let Some(main) = main_placement(cases) else { return Vec::new() };
    let sizes = |workload| -> BTreeSet<u64> {
        let sizes = cases.iter().filter(|case| case.case.workload == workload);
        sizes.map(|case| case.case.buffer_bytes).collect()
    };
    let answered = answered_workload(cases);
    let smallest = sizes(answered).first().copied();
    let bulk = sizes(WorkloadKind::Stream);
    let mut bulk = bulk.iter().rev().copied();
    let (largest, second) = (bulk.next(), bulk.next());
    let mut places = vec![
        (SurveyFigure::RoundTrip(answered), SAME, smallest, Essential),
        (SurveyFigure::RoundTrip(answered), main, smallest, Essential),
        (SurveyFigure::Percentile99(answered), main, smallest, LeftOutIfNarrow),
        (SurveyFigure::CpuTime(answered), main, smallest, LeftOutIfNarrow),
        (SurveyFigure::Bandwidth, main, second, LeftOutIfNarrow),
        (SurveyFigure::Bandwidth, main, largest, Essential),
    ];
    places.dedup();
    let column = |(figure, placement, bytes, importance)| {
        Some(SurveyColumn::new(figure, placement, bytes?, importance, cases))
    };
    let columns = places.into_iter().filter_map(column);
    columns.filter(|column| column.cases.iter().any(|case| column.value(case).is_some())).collect()
}

/// Names a placement in a heading.
fn placement_name(placement: &str) -> &str {
    match placement {
        SAME => "same CPU",
        SPLIT => "2 CPUs",
        other => other,
    }
}

impl<'a> SurveyColumn<'a> {
    fn new(
        figure: SurveyFigure,
        placement: &str,
        bytes: u64,
        importance: Importance,
        cases: &[&'a CaseSummary],
    ) -> Self {
        let is_meant = |case: &&&CaseSummary| {
            case.case.workload == figure.workload()
                && case.case.placement == placement
                && case.case.buffer_bytes == bytes
        };
        let cases: Vec<&CaseSummary> = cases.iter().filter(is_meant).copied().collect();
        let size =
            cases.first().map_or_else(|| Bytes(bytes).to_string(), |case| case.case.size_text());
        let heading = format!("{}\n{size}\n{}", figure.name(), placement_name(placement));
        Self { heading, importance, figure, class: most_frequent_class(&cases), cases }
    }

    /// CPU distance class whose cases are compared.
    pub(super) fn class(&self) -> Option<&'a String> {
        self.class
    }

    /// Whether it shows the figure by which mechanisms are compared in `workload`.
    pub(super) fn shows_main_figure(&self, workload: WorkloadKind) -> bool {
        match self.figure {
            SurveyFigure::RoundTrip(_) | SurveyFigure::Bandwidth => {
                self.figure.workload() == workload
            }
            SurveyFigure::Percentile99(_) | SurveyFigure::CpuTime(_) => false,
        }
    }

    /// Returns the case of the mechanism called `name`: in the class of the column, or else in that with most runs.
    fn case(&self, name: &str) -> Option<&'a CaseSummary> {
        let named = self.cases.iter().copied().filter(|case| case.series() == name);
        named.max_by_key(|case| (case.cpu_pair_class.as_ref() == self.class, case.runs))
    }

    /// Returns the median of the valid runs of `case`, or of the disturbed runs if there are no valid ones.
    fn value(&self, case: &CaseSummary) -> Option<f64> {
        let disturbed = || match self.figure {
            SurveyFigure::RoundTrip(_) | SurveyFigure::Bandwidth => case.disturbed_median,
            SurveyFigure::Percentile99(_) | SurveyFigure::CpuTime(_) => None,
        };
        self.figure.median(case).map(|(median, _)| median).or_else(disturbed)
    }

    /// Whether `case` is compared with the others of the column, as in rankings.
    fn is_compared(&self, case: &CaseSummary) -> bool {
        !case.is_mostly_missing()
            && case.is_delivered()
            && case.cpu_pair_class.as_ref() == self.class
    }

    /// Returns the best value. `None` if fewer than two values are compared, or if a mechanism with too few valid runs
    /// looks better by its main figure, as in rankings.
    fn best(&self) -> Option<f64> {
        let better = |one: &f64, other: &f64| self.figure.compare(*one, *other);
        let compared = || self.cases.iter().filter(|case| self.is_compared(case));
        let main =
            compared().filter_map(|case| Some(case.main()?.spread().median)).min_by(better)?;
        let looks_better = |case: &&CaseSummary| {
            case.is_mostly_missing()
                && case.is_delivered()
                && case.excluded_median.is_some_and(|looked| better(&looked, &main).is_lt())
        };
        let values: Vec<f64> = compared().filter_map(|case| self.value(case)).collect();
        if values.len() < 2 || self.cases.iter().any(looks_better) {
            return None;
        }
        values.into_iter().min_by(better)
    }

    /// Returns the cell of the mechanism called `name`. `None` if it has no case in this column.
    pub fn cell(&self, name: &str) -> Option<SurveyCell> {
        let case = self.case(name)?;
        let Some(value) = self.value(case) else {
            let reason = match (case.refused.is_some(), case.failed) {
                (true, _) => "refused",
                (false, 0) => "no valid run",
                (false, _) => "failed",
            };
            return Some(SurveyCell::without_marks(reason.to_owned()));
        };
        let text = self.figure.format(value);
        if !self.is_compared(case) {
            return Some(SurveyCell::without_marks(format!("({text})")));
        }
        let is_best = self.best().is_some_and(|best| (value / best).max(best / value) < TIE_RATIO);
        Some(SurveyCell { text, is_best, caution: self.caution(case) })
    }

    fn caution(&self, case: &CaseSummary) -> Option<Caution> {
        let iqr = self.figure.median(case).and_then(|(_, iqr)| iqr);
        let is_scattered = iqr.is_some_and(|iqr| iqr > MAX_RELATIVE_IQR) || !case.modes.is_empty();
        let is_lossy = case.lost_share.is_some_and(|lost| lost.median > 0.0);
        match (is_lossy, is_scattered) {
            (true, _) => Some(Caution::Lossy),
            (false, true) => Some(Caution::Scattered),
            (false, false) => None,
        }
    }

    /// Orders two mechanisms, the better one first; those without a value come last.
    pub(super) fn order(&self, one: &str, other: &str) -> Ordering {
        let value = |name| self.case(name).and_then(|case| self.value(case));
        match (value(one), value(other)) {
            (Some(one), Some(other)) => self.figure.compare(one, other),
            (one, other) => other.is_some().cmp(&one.is_some()),
        }
    }
}

impl SurveyCell {
    const fn without_marks(text: String) -> Self {
        Self { text, is_best: false, caution: None }
    }
}

/// Returns the CPU distance class with most runs of `cases`.
fn most_frequent_class<'a>(cases: &[&'a CaseSummary]) -> Option<&'a String> {
    let mut runs: BTreeMap<Option<&String>, usize> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.refused.is_none()) {
        *runs.entry(case.cpu_pair_class.as_ref()).or_default() += case.runs;
    }
    runs.into_iter().max_by_key(|(_, runs)| *runs).and_then(|(class, _)| class)
}
