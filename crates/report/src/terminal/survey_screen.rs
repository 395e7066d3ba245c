//! The survey on one screen: the answers in three sentences, and one row for each mechanism.

use std::cmp::Ordering;

use comfy_table::CellAlignment;
use ipcperf_model::units;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_results::analysis::{
    AnalyzedFile, CaseSummary, ComparedSize, Comparison, comparisons_at,
};
use ipcperf_results::{ExclusionReason, Sample};

use super::cells::new_table;
use super::sentences::{TIE_RATIO, comparison_text};
use super::width::wrap;
use crate::wording::limit_text;

/// Width from which all columns are shown.
const WIDE: usize = 100;
/// Ratio of the interquartile range to the median from which a figure is marked as scattered.
const SCATTERED: f64 = 0.2;
const BEST: char = '*';
const SCATTER: char = '~';
const LEGEND: &str = "* best, or within 5 % of it   ~ repetitions scatter   (value) too few valid runs to be compared";

/// Figure of a case that a column shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Figure {
    RoundTrip,
    Percentile99,
    CpuTime,
    Bandwidth,
}

/// Terminals on which a column is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Always,
    OnWideTerminals,
}

/// A column: one figure of the cases at one placement and size.
struct SurveyColumn {
    heading: &'static str,
    figure: Figure,
    placement: &'static str,
    buffer_bytes: u64,
    shown: Shown,
}

/// All columns. Those without a value are left out: on one CPU there is no placement `split`.
const COLUMNS: [SurveyColumn; 6] = [
    column("round trip\n64 B, same CPU", Figure::RoundTrip, "same", 64, Shown::Always),
    column("round trip\n64 B, 2 CPUs", Figure::RoundTrip, "split", 64, Shown::Always),
    column("p99\n64 B, 2 CPUs", Figure::Percentile99, "split", 64, Shown::OnWideTerminals),
    column("CPU time\n64 B, 2 CPUs", Figure::CpuTime, "split", 64, Shown::OnWideTerminals),
    column(
        "bandwidth\n64 KiB, 2 CPUs",
        Figure::Bandwidth,
        "split",
        64 << 10,
        Shown::OnWideTerminals,
    ),
    column("bandwidth\n1 MiB, 2 CPUs", Figure::Bandwidth, "split", 1 << 20, Shown::Always),
];

const fn column(
    heading: &'static str,
    figure: Figure,
    placement: &'static str,
    buffer_bytes: u64,
    shown: Shown,
) -> SurveyColumn {
    SurveyColumn { heading, figure, placement, buffer_bytes, shown }
}

/// A figure with what its reader must know about it.
#[derive(Clone, Copy, Debug)]
struct Value {
    median: f64,
    is_scattered: bool,
    is_comparable: bool,
}

impl Figure {
    const fn workload(self) -> WorkloadKind {
        match self {
            Self::RoundTrip | Self::Percentile99 | Self::CpuTime => WorkloadKind::RoundTrip,
            Self::Bandwidth => WorkloadKind::Stream,
        }
    }

    fn value(self, case: &CaseSummary) -> Option<Value> {
        let spread = match self {
            Self::RoundTrip => case.round_trip_ns_mean,
            Self::Percentile99 => case.round_trip_ns_p99,
            Self::Bandwidth => case.bandwidth_bytes_per_s,
            Self::CpuTime => None,
        };
        let is_comparable = !case.is_mostly_missing();
        let cpu_ns = || {
            let roles = case.roles.values().map(|role| role.cpu_ns_per_message.median);
            (!case.roles.is_empty()).then(|| roles.sum())
        };
        let only_disturbed = || match self {
            Self::RoundTrip | Self::Bandwidth => case.disturbed_median,
            Self::Percentile99 | Self::CpuTime => None,
        };
        let median = match self {
            Self::CpuTime => cpu_ns(),
            _ => spread.map(|spread| spread.median),
        };
        let scatter = spread.and_then(|spread| spread.relative_iqr()).unwrap_or(0.0);
        let is_scattered = scatter > SCATTERED || !case.modes.is_empty();
        Some(Value { median: median.or_else(only_disturbed)?, is_scattered, is_comparable })
    }

    fn format(self, value: f64) -> String {
        match self {
            Self::RoundTrip | Self::Percentile99 | Self::CpuTime => units::time(value),
            Self::Bandwidth => units::bandwidth(value),
        }
    }

    /// Whether `one` is better than, as good as, or worse than `other`: the better one is less.
    fn compare(self, one: f64, other: f64) -> Ordering {
        match self {
            Self::RoundTrip | Self::Percentile99 | Self::CpuTime => one.total_cmp(&other),
            Self::Bandwidth => other.total_cmp(&one),
        }
    }
}

impl SurveyColumn {
    /// Returns its value for the mechanism called `series`, in the CPU distance class with most runs.
    fn value(&self, cases: &[&CaseSummary], series: &str) -> Option<Value> {
        let is_meant = |case: &&&CaseSummary| {
            case.case.workload == self.figure.workload()
                && case.case.placement == self.placement
                && case.case.buffer_bytes == self.buffer_bytes
                && case.series() == series
        };
        cases
            .iter()
            .filter(is_meant)
            .max_by_key(|case| case.runs)
            .and_then(|case| self.figure.value(case))
    }

    /// Returns the best of `values`.
    fn best(&self, values: &[Option<Value>]) -> Option<f64> {
        let comparable = values.iter().flatten().filter(|value| value.is_comparable);
        comparable.map(|value| value.median).min_by(|one, other| self.figure.compare(*one, *other))
    }

    fn cell(&self, value: Option<Value>, best: Option<f64>) -> String {
        let Some(value) = value else { return "-".to_owned() };
        let text = self.figure.format(value.median);
        if !value.is_comparable {
            return format!("({text})  ");
        }
        let ratio =
            best.map_or(f64::INFINITY, |best| (value.median / best).max(best / value.median));
        let marks = [(value.is_scattered, SCATTER), (ratio < TIE_RATIO, BEST)];
        let marks = marks.map(|(is_set, mark)| if is_set { mark } else { ' ' });
        format!("{text} {}{}", marks[1], marks[0])
    }
}

/// Returns the survey in `file` as text of at most `columns` characters a line, without the heading.
pub fn survey_screen(file: &AnalyzedFile, columns: usize) -> String {
    let cases: Vec<&CaseSummary> =
        file.summaries.iter().filter(|case| !case.case.is_harness_only()).collect();
    let mut parts = answers(&file.summaries);
    parts.push(quality(&file.results.samples, &cases));
    let parts = [table(&cases, columns), LEGEND.to_owned(), parts.join("\n")];
    wrap(&parts.join("\n"), columns)
}

fn table(cases: &[&CaseSummary], columns: usize) -> String {
    let mut names: Vec<String> = Vec::new();
    for case in cases {
        let name = case.series();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let is_shown = |column: &&SurveyColumn| column.shown == Shown::Always || columns >= WIDE;
    let shown: Vec<(&SurveyColumn, Vec<Option<Value>>)> = COLUMNS
        .iter()
        .filter(is_shown)
        .map(|column| (column, names.iter().map(|name| column.value(cases, name)).collect()))
        .filter(|(_, values): &(_, Vec<Option<Value>>)| values.iter().any(Option::is_some))
        .collect();
    let mut rows: Vec<usize> = (0..names.len()).collect();
    if let Some((column, values)) =
        shown.iter().rfind(|(column, _)| column.figure == Figure::RoundTrip)
    {
        rows.sort_by(|one, other| by_value(column, values[*one], values[*other]));
    }
    let mut table = new_table(columns);
    table.set_header(
        ["mechanism"].into_iter().chain(shown.iter().map(|(column, _)| column.heading)),
    );
    for row in rows {
        let cell = |(column, values): &(&SurveyColumn, Vec<Option<Value>>)| {
            column.cell(values[row], column.best(values))
        };
        table.add_row(std::iter::once(names[row].clone()).chain(shown.iter().map(cell)));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}

/// Orders rows by a column, the best first; rows without a value come last.
fn by_value(column: &SurveyColumn, one: Option<Value>, other: Option<Value>) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) => column.figure.compare(one.median, other.median),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

/// Names the best mechanism for small and for large messages, and what limits the latter.
fn answers(summaries: &[CaseSummary]) -> Vec<String> {
    let small = far_comparison(summaries, ComparedSize::Smallest, WorkloadKind::RoundTrip);
    let large = far_comparison(summaries, ComparedSize::Largest, WorkloadKind::Stream);
    let limit = large.as_ref().and_then(|comparison| match comparison {
        Comparison::Ranked(ranking) => {
            limit_text(&ranking.best).map(|limit| format!("Limit: {limit}"))
        }
        Comparison::Undecided(_) | Comparison::Refused(_) => None,
    });
    let answer = |what: &str, comparison: Option<Comparison>| {
        comparison.map(|comparison| format!("{what}: {}", comparison_text(&comparison)))
    };
    [answer("Small messages", small), answer("Bulk data", large), limit]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns the comparison on two CPUs, or on one if there are no others.
fn far_comparison(
    summaries: &[CaseSummary],
    size: ComparedSize,
    workload: WorkloadKind,
) -> Option<Comparison> {
    let facts = |comparison: &Comparison| match comparison {
        Comparison::Ranked(one) => (one.workload, one.placement.clone()),
        Comparison::Undecided(one) => (one.workload, one.placement.clone()),
        Comparison::Refused(one) => (one.workload, one.placement.clone()),
    };
    let mut all = comparisons_at(summaries, size);
    all.retain(|comparison| facts(comparison).0 == workload);
    let far = all.iter().position(|comparison| facts(comparison).1 == "split");
    let place = far.or((!all.is_empty()).then_some(0))?;
    Some(all.swap_remove(place))
}

/// States how many runs count, and how many cells have too few of them.
fn quality(samples: &[Sample], cases: &[&CaseSummary]) -> String {
    let runs = samples.iter().filter(|sample| sample.run.block > 0).count();
    let disturbed = samples
        .iter()
        .filter(|sample| sample.excluded.is_some_and(ExclusionReason::is_disturbance));
    let few =
        cases.iter().filter(|case| case.refused.is_none() && case.is_mostly_missing()).count();
    let few = match few {
        0 => String::new(),
        1 => "; 1 case has too few valid runs".to_owned(),
        few => format!("; {few} cases have too few valid runs"),
    };
    format!(
        "Data quality: {} of {runs} runs were disturbed and are not used{few}.",
        disturbed.count()
    )
}

#[cfg(test)]
mod tests {
    use ipcperf_results::testing::{analyzed_file, sample};

    use super::*;

    /// Returns the survey of three mechanisms at both placements, on a terminal of `columns`.
    fn screen(placements: &[&str], columns: usize) -> String {
        let mut samples = Vec::new();
        for (mechanism, elapsed_us) in [("pipe", 2_000), ("tcp", 5_000), ("fifo", 2_010)] {
            for (workload, bytes) in [
                (WorkloadKind::RoundTrip, 64),
                (WorkloadKind::Stream, 64 << 10),
                (WorkloadKind::Stream, 1 << 20),
            ] {
                for placement in placements {
                    for block in 0..=7 {
                        let mut one = sample(mechanism, workload, bytes, block, elapsed_us * 1_000);
                        one.run.case.placement = (*placement).to_owned();
                        one.run.case.case_id += placement;
                        samples.push(one);
                    }
                }
            }
        }
        survey_screen(&analyzed_file("survey.jsonl", samples, Vec::new()), columns)
    }

    #[test]
    fn the_best_and_what_is_tied_with_it_are_marked_alike() {
        let text = screen(&["same", "split"], 100);
        let row =
            |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        assert_eq!(row("pipe").matches(BEST).count(), row("fifo").matches(BEST).count(), "{text}");
        assert!(row("pipe").contains(BEST) && !row("tcp").contains(BEST), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn it_fits_a_screen_and_a_narrow_one_has_fewer_columns() {
        for columns in [80, 100] {
            let text = screen(&["same", "split"], columns);
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
        }
        assert!(!screen(&["same", "split"], 80).contains("p99"));
    }

    #[test]
    fn one_cpu_has_no_columns_for_two() {
        let text = screen(&["same"], 100);
        assert!(text.contains("same CPU") && !text.contains("2 CPUs"), "{text}");
    }
}
