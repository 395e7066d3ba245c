//! Columns of the survey's screen: which figures they show, and which value is the best.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use ipcperf_model::size::Bytes;
use ipcperf_model::units;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_results::analysis::CaseSummary;

use super::sentences::TIE_RATIO;

/// Ratio of the interquartile range to the median from which a figure is marked as scattered.
const SCATTERED: f64 = 0.2;
const BEST: char = '*';
const SCATTER: char = '~';
const LOSS: char = '!';
/// Placement on one CPU, and on two.
const SAME: &str = "same";
pub(super) const SPLIT: &str = "split";

/// Explains the marks in cells.
pub(super) fn legend() -> String {
    let tie = units::percent(TIE_RATIO - 1.0);
    format!(
        "{BEST} best, or within {tie} of it   {SCATTER} scattered   {LOSS} messages lost   (value) few valid runs or \
         other CPUs"
    )
}

/// Figure of a case that a column shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Figure {
    RoundTrip,
    Percentile99,
    CpuTime,
    Bandwidth,
}

/// Importance of a column: whether it is left out if the terminal is too narrow for all columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Importance {
    Essential,
    LeftOutIfNarrow,
}

/// A column: one figure of the cases at one placement and size.
pub(super) struct SurveyColumn<'a> {
    pub(super) heading: String,
    pub(super) importance: Importance,
    figure: Figure,
    cases: Vec<&'a CaseSummary>,
    /// CPU distance class with most runs. Only its cases are compared.
    class: Option<&'a String>,
}

impl Figure {
    const fn name(self) -> &'static str {
        match self {
            Self::RoundTrip => "round trip",
            Self::Percentile99 => "p99",
            Self::CpuTime => "CPU time",
            Self::Bandwidth => "bandwidth",
        }
    }

    const fn workload(self) -> WorkloadKind {
        match self {
            Self::RoundTrip | Self::Percentile99 | Self::CpuTime => WorkloadKind::RoundTrip,
            Self::Bandwidth => WorkloadKind::Stream,
        }
    }

    /// Returns the median of the valid runs of `case`, and the interquartile range divided by it. CPU time is the sum
    /// over the roles.
    fn median(self, case: &CaseSummary) -> Option<(f64, Option<f64>)> {
        let spread = match self {
            Self::RoundTrip => case.round_trip_ns_mean,
            Self::Percentile99 => case.round_trip_ns_p99,
            Self::Bandwidth => case.bandwidth_bytes_per_s,
            Self::CpuTime => {
                let roles = case.roles.values().map(|role| role.cpu_ns_per_message.median);
                return (!case.roles.is_empty()).then(|| (roles.sum(), None));
            }
        }?;
        Some((spread.median, spread.relative_iqr()))
    }

    fn format(self, value: f64) -> String {
        match self {
            Self::RoundTrip | Self::Percentile99 | Self::CpuTime => units::time(value),
            Self::Bandwidth => units::bandwidth(value),
        }
    }

    /// Compares two values: the better one is less.
    fn compare(self, one: f64, other: f64) -> Ordering {
        match self {
            Self::RoundTrip | Self::Percentile99 | Self::CpuTime => one.total_cmp(&other),
            Self::Bandwidth => other.total_cmp(&one),
        }
    }
}

/// Returns the columns for `cases`: round trips at the smallest size, on one CPU and on two, and bandwidths at the two
/// largest sizes, on two CPUs or, if the machine has only one, on that. Columns without a value are left out.
pub(super) fn survey_columns<'a>(cases: &[&'a CaseSummary]) -> Vec<SurveyColumn<'a>> {
    use Importance::{Essential, LeftOutIfNarrow};
    let far = cases.iter().any(|case| case.case.placement == SPLIT && case.refused.is_none());
    let far = if far { SPLIT } else { SAME };
    let sizes = |workload| -> BTreeSet<u64> {
        let sizes = cases.iter().filter(|case| case.case.workload == workload);
        sizes.map(|case| case.case.buffer_bytes).collect()
    };
    let smallest = sizes(WorkloadKind::RoundTrip).first().copied();
    let bulk = sizes(WorkloadKind::Stream);
    let mut bulk = bulk.iter().rev().copied();
    let (largest, second) = (bulk.next(), bulk.next());
    let mut places = vec![
        (Figure::RoundTrip, SAME, smallest, Essential),
        (Figure::RoundTrip, far, smallest, Essential),
        (Figure::Percentile99, far, smallest, LeftOutIfNarrow),
        (Figure::CpuTime, far, smallest, LeftOutIfNarrow),
        (Figure::Bandwidth, far, second, LeftOutIfNarrow),
        (Figure::Bandwidth, far, largest, Essential),
    ];
    places.dedup();
    let column = |(figure, placement, bytes, importance)| {
        Some(SurveyColumn::new(figure, placement, bytes?, importance, cases))
    };
    let columns = places.into_iter().filter_map(column);
    columns.filter(|column| column.cases.iter().any(|case| column.value(case).is_some())).collect()
}

impl<'a> SurveyColumn<'a> {
    fn new(
        figure: Figure,
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
        let place = if placement == SAME { "same CPU" } else { "2 CPUs" };
        let heading = format!("{}\n{}\n{place}", figure.name(), Bytes(bytes));
        Self { heading, importance, figure, class: most_frequent_class(&cases), cases }
    }

    /// CPU distance class whose cases are compared.
    pub(super) fn class(&self) -> Option<&'a String> {
        self.class
    }

    /// Whether it is a column of round trips.
    pub(super) fn has_round_trips(&self) -> bool {
        self.figure == Figure::RoundTrip
    }

    /// Returns the case of the mechanism called `name`: in the class of the column, or else in that with most runs.
    fn case(&self, name: &str) -> Option<&'a CaseSummary> {
        let named = self.cases.iter().copied().filter(|case| case.series() == name);
        named.max_by_key(|case| (case.cpu_pair_class.as_ref() == self.class, case.runs))
    }

    /// Returns the median of the valid runs of `case`, or of the disturbed runs if there are no valid ones.
    fn value(&self, case: &CaseSummary) -> Option<f64> {
        let disturbed = || match self.figure {
            Figure::RoundTrip | Figure::Bandwidth => case.disturbed_median,
            Figure::Percentile99 | Figure::CpuTime => None,
        };
        self.figure.median(case).map(|(median, _)| median).or_else(disturbed)
    }

    /// Whether `case` is compared with the others of the column.
    fn is_compared(&self, case: &CaseSummary) -> bool {
        !case.is_mostly_missing() && case.cpu_pair_class.as_ref() == self.class
    }

    /// Returns the best value. `None` if a mechanism with too few valid runs looks better by its main figure, as in
    /// rankings.
    fn best(&self) -> Option<f64> {
        let better = |one: &f64, other: &f64| self.figure.compare(*one, *other);
        let compared = || self.cases.iter().filter(|case| self.is_compared(case));
        let main =
            compared().filter_map(|case| Some(case.main()?.spread().median)).min_by(better)?;
        let looks_better = |case: &&&CaseSummary| {
            case.is_mostly_missing()
                && case.excluded_median.is_some_and(|looked| better(&looked, &main).is_lt())
        };
        if self.cases.iter().any(|case| looks_better(&case)) {
            return None;
        }
        compared().filter_map(|case| self.value(case)).min_by(better)
    }

    /// Returns the text for the mechanism called `name`.
    pub(super) fn cell(&self, name: &str) -> String {
        let Some(case) = self.case(name) else { return "-".to_owned() };
        let Some(value) = self.value(case) else {
            let reason = match (case.refused.is_some(), case.failed) {
                (true, _) => "refused",
                (false, 0) => "no valid run",
                (false, _) => "failed",
            };
            return format!("{reason}  ");
        };
        let text = self.figure.format(value);
        if !self.is_compared(case) {
            return format!("({text})  ");
        }
        let is_best = self.best().is_some_and(|best| (value / best).max(best / value) < TIE_RATIO);
        let iqr = self.figure.median(case).and_then(|(_, iqr)| iqr);
        let is_scattered = iqr.is_some_and(|iqr| iqr > SCATTERED) || !case.modes.is_empty();
        let is_lossy = case.lost_share.is_some_and(|lost| lost.median > 0.0);
        let best = if is_best { BEST } else { ' ' };
        let note = match (is_lossy, is_scattered) {
            (true, _) => LOSS,
            (false, true) => SCATTER,
            (false, false) => ' ',
        };
        format!("{text}{best}{note}")
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

/// Returns the CPU distance class with most runs of `cases`.
fn most_frequent_class<'a>(cases: &[&'a CaseSummary]) -> Option<&'a String> {
    let mut runs: BTreeMap<Option<&String>, usize> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.refused.is_none()) {
        *runs.entry(case.cpu_pair_class.as_ref()).or_default() += case.runs;
    }
    runs.into_iter().max_by_key(|(_, runs)| *runs).and_then(|(class, _)| class)
}
