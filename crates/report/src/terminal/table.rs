//! Tables of results: one for each workload, mode, placement and kernel buffer, or several if it exceeds the width.

use std::collections::{BTreeSet, HashMap, HashSet};

use comfy_table::Table;
use ipcperf_model::parallel::map;
use ipcperf_model::printable::printable_line;
use ipcperf_model::size::Bytes;
use ipcperf_model::units;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_results::analysis::{CaseSummary, DistributionMode, MainFigure};
use textwrap::core::display_width;

use super::cells::CaseRow;
use super::grid::ResultsTable;
use crate::wording::{ErrorBar, Heading, TableHeading, headings, metric_text};

/// Mark after values of round trips that have several modes, which the notes list.
pub(super) const MULTIMODAL_MARK: &str = "†";

/// The results under one heading.
#[derive(Clone, Debug)]
pub struct Section {
    pub heading: TableHeading,
    pub results: ResultsTable,
    /// Shares of the hardware limits. `None` if no limit is known.
    pub hardware_limit_shares: Option<ResultsTable>,
}

/// Heading of the second grid of a section.
pub const HARDWARE_LIMIT_HEADING: &str = "Share of the hardware limit";

/// Formats all tables of `summaries`, at most `columns` wide, with the refused cases below.
pub fn tables(summaries: &[CaseSummary], error_bar: ErrorBar, columns: usize) -> String {
    let sections = sections(summaries, error_bar);
    let mut parts: Vec<String> = map(sections.iter(), |section| section.text(columns));
    let refusals = refusals(summaries);
    if !refusals.is_empty() {
        parts.push(refusals.join("\n"));
    }
    parts.join("\n\n")
}

/// Groups the results of `summaries` by heading.
pub fn sections(summaries: &[CaseSummary], error_bar: ErrorBar) -> Vec<Section> {
    let rows: Vec<CaseRow> = summaries.iter().map(CaseRow::new).collect();
    let measured = measured_series(&rows);
    let headings = headings(summaries);
    map(headings.iter(), |heading| section(heading, &rows, &measured, error_bar))
}

/// Returns the series of which at least one case was not refused.
fn measured_series<'a>(rows: impl IntoIterator<Item = &'a CaseRow<'a>>) -> HashSet<&'a str> {
    let measured = rows.into_iter().filter(|row| row.case.refused.is_none());
    measured.map(|row| row.series.as_str()).collect()
}

/// Returns the results under `heading`. A refused cell is shown with the other cells of its series. If no table has any
/// (`measured` lists the series that have some), it is shown under every heading.
fn section(
    heading: &Heading,
    rows: &[CaseRow],
    measured: &HashSet<&str>,
    error_bar: ErrorBar,
) -> Section {
    let mut rows: Vec<&CaseRow> = rows.iter().filter(|row| heading.covers(row.case)).collect();
    let here = measured_series(rows.iter().copied());
    rows.retain(|row| {
        let series = row.series.as_str();
        row.case.refused.is_none() || here.contains(series) || !measured.contains(series)
    });
    let limited: Vec<&CaseRow> =
        rows.iter().copied().filter(|row| row.case.hardware_limit.is_some()).collect();
    Section {
        heading: heading.of_table(&repetition_range(&rows), error_bar),
        results: ResultsTable::from_rows(&rows, |case| cell_text(case, error_bar)),
        hardware_limit_shares: (!limited.is_empty())
            .then(|| ResultsTable::from_rows(&limited, hardware_limit_share)),
    }
}

impl Section {
    fn text(&self, columns: usize) -> String {
        let heading = self.heading.to_string();
        let fits = display_width(&heading) <= columns;
        let mut parts = vec![if fits { heading } else { self.heading.on_two_lines() }];
        let grid = |figures: &ResultsTable| figures.layout(columns).tables(columns);
        parts.extend(grid(&self.results).iter().map(Table::to_string));
        if let Some(shares) = &self.hardware_limit_shares {
            parts.push(format!("{HARDWARE_LIMIT_HEADING}:"));
            parts.extend(grid(shares).iter().map(Table::to_string));
        }
        parts.join("\n")
    }
}

/// Formats the share of the hardware limit that a case reaches.
fn hardware_limit_share(case: &CaseSummary) -> String {
    case.hardware_limit.as_ref().map_or_else(String::new, |roof| {
        format!("{} of {}", units::percent(roof.share), roof.bound_by.name())
    })
}

/// Returns the range of the number of repetitions behind the medians of `rows`; 0 for a case without a result.
fn repetition_range(rows: &[&CaseRow]) -> String {
    let measured = || rows.iter().filter(|row| row.case.refused.is_none());
    let counts = || measured().map(|row| row.case.main().map_or(0, |figure| figure.spread().n));
    match (counts().min(), counts().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (_, most) => most.unwrap_or(0).to_string(),
    }
}

fn cell_text(case: &CaseSummary, error_bar: ErrorBar) -> String {
    if case.refused.is_some() {
        return "refused".to_owned();
    }
    let Some(figure) = case.main() else {
        return missing_text(case);
    };
    let mut text = if case.modes.is_empty() {
        median_text(&figure, case.median_interval, error_bar)
    } else {
        modes_text(&figure, &case.modes)
    };
    if !case.round_trip_modes.is_empty() {
        text += &format!(" {MULTIMODAL_MARK}");
    }
    if let Some(lost) = case.lost_share.filter(|lost| lost.median > 0.0) {
        text += &format!("\n{} lost", units::percent(lost.median));
    }
    if case.failed > 0 {
        text += &format!("\n{} failed", case.failed);
    }
    text
}

fn missing_text(case: &CaseSummary) -> String {
    match (case.failed, case.disturbed) {
        (0, 0) => "no valid run".to_owned(),
        (0, disturbed) => {
            let median = case.disturbed_median.map(|value| match case.case.workload {
                WorkloadKind::Stream if !case.case.is_harness_only() => units::bandwidth(value),
                WorkloadKind::Stream | WorkloadKind::RoundTrip | WorkloadKind::RequestReply => {
                    units::time(value)
                }
            });
            format!("? {}\n{disturbed} disturbed", median.unwrap_or_default())
        }
        _ => "failed".to_owned(),
    }
}

fn median_text(figure: &MainFigure, interval: Option<[f64; 2]>, error_bar: ErrorBar) -> String {
    let each = if matches!(figure, MainFigure::PerMessage(_)) { "/msg" } else { "" };
    let (median, spread) = (metric_text::median(figure), figure.spread());
    match (error_bar, interval) {
        (ErrorBar::ConfidenceInterval, Some([low, high])) => {
            let half = units::percent((high - low) / 2.0 / spread.median);
            format!("{median}{each} ± {half}")
        }
        (ErrorBar::ConfidenceInterval, None) if spread.quartiles().is_some() => {
            format!("{median}{each}")
        }
        (ErrorBar::ConfidenceInterval, None) | (ErrorBar::Iqr, _) => {
            format!("{median}{each} ({})", metric_text::spread_or_n(&spread))
        }
    }
}

/// Formats each mode with its share. A single central value would represent none of them.
fn modes_text(figure: &MainFigure, modes: &[DistributionMode]) -> String {
    let line = |mode: &DistributionMode| {
        format!("{}: {}", units::percent(mode.share), metric_text::value(figure, mode.median))
    };
    modes.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Lists each reason for a refusal once, with the sizes that it applies to.
pub fn refusals(summaries: &[CaseSummary]) -> Vec<String> {
    let mut reasons: Vec<(&str, BTreeSet<u64>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for summary in summaries {
        let Some(reason) = &summary.refused else {
            continue;
        };
        let place = *places.entry(reason).or_insert_with(|| {
            reasons.push((reason, BTreeSet::new()));
            reasons.len() - 1
        });
        reasons[place].1.insert(summary.case.buffer_bytes);
    }
    let line = |(reason, sizes): &(&str, BTreeSet<u64>)| {
        let sizes: Vec<String> = sizes.iter().map(|&bytes| Bytes(bytes).to_string()).collect();
        format!("refused at {}: {}", sizes.join(", "), printable_line(reason))
    };
    reasons.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use ipcperf_results::analysis::{Bound, HardwareLimitShare, summarize};
    use ipcperf_results::testing::sample;

    use super::*;

    /// Returns summaries of `null` and two others with scripted times: repetition k takes k % longer.
    fn scripted(workload: WorkloadKind, mechanisms: &[&str], sizes: &[u64]) -> Vec<CaseSummary> {
        let (mut cases, mut samples) = (Vec::new(), Vec::new());
        for (place, mechanism) in (1..).zip(mechanisms) {
            for &bytes in sizes {
                for block in 0..=7_u32 {
                    let elapsed_ns = place * 1_000 * (100 + u64::from(block));
                    samples.push(sample(mechanism, workload, bytes, block, elapsed_ns));
                }
                cases.push(samples[samples.len() - 1].run.case.case_id.clone());
            }
        }
        summarize(&cases, &[], &samples, &[], None)
    }

    #[test]
    fn few_sizes_stand_across() {
        let mut all = scripted(WorkloadKind::Stream, &["null", "pipe", "tcp"], &[64, 4096]);
        all.extend(scripted(WorkloadKind::RoundTrip, &["null", "pipe"], &[64, 4096]));
        insta::assert_snapshot!(tables(&all, ErrorBar::Iqr, 116));
    }

    #[test]
    fn many_sizes_stand_down() {
        let sizes: Vec<u64> = (9..=15).map(|power| 1 << power).collect();
        insta::assert_snapshot!(tables(
            &scripted(WorkloadKind::Stream, &["null", "pipe"], &sizes),
            ErrorBar::Iqr,
            116
        ));
    }

    #[test]
    fn what_failed_was_lost_or_refused_is_in_its_cell() {
        let mut all = scripted(WorkloadKind::Stream, &["udp", "pipe", "tcp"], &[64]);
        all[0].lost_share = all[0]
            .bandwidth_bytes_per_s
            .map(|s| ipcperf_results::analysis::Spread { median: 0.5, ..s });
        all[1].failed = 2;
        all[2].refused = Some("tcp is tired".to_owned());
        insta::assert_snapshot!(tables(&all, ErrorBar::Iqr, 116));
    }

    #[test]
    fn modes_roofs_and_what_was_always_disturbed_are_in_their_cells() {
        let mut all = scripted(WorkloadKind::Stream, &["pipe", "tcp", "udp"], &[64]);
        all[0].modes = [(0.62, 1.3e9), (0.38, 5.8e9)]
            .map(|(share, median)| DistributionMode { share, median })
            .to_vec();
        all[2].round_trip_modes = all[0].modes.clone();
        all[0].hardware_limit =
            Some(HardwareLimitShare { bound_by: Bound::Copy, min_ns: 1.0, share: 0.17 });
        all[1].bandwidth_bytes_per_s = None;
        (all[1].disturbed, all[1].disturbed_median) = (7, Some(4.2e9));
        insta::assert_snapshot!(tables(&all, ErrorBar::ConfidenceInterval, 116));
    }

    /// Returns summaries with everything that makes a table wide: long names, many sizes, several modes, a loss, a
    /// refusal.
    fn wide() -> Vec<CaseSummary> {
        let sizes: Vec<u64> = (6..=20).map(|power| 1 << power).collect();
        let names = ["null", "pipe", "unix-stream-named", "unix-seqpacket", "udp"];
        let mut all = scripted(WorkloadKind::Stream, &names, &sizes);
        all.extend(scripted(WorkloadKind::RoundTrip, &names[..2], &sizes[..4]));
        let option = ("address".to_owned(), "abstract".to_owned());
        for case in all.iter_mut().filter(|case| case.case.mechanism == "unix-stream-named") {
            case.case.options.insert(option.0.clone(), option.1.clone());
        }
        all[20].modes = [(0.62, 1.3e9), (0.38, 5.8e9)]
            .map(|(share, median)| DistributionMode { share, median })
            .to_vec();
        all[21].lost_share = all[21]
            .bandwidth_bytes_per_s
            .map(|s| ipcperf_results::analysis::Spread { median: 0.5, ..s });
        all[22].refused = Some("carries at most 212960 bytes a message".to_owned());
        for case in &mut all {
            case.hardware_limit =
                Some(HardwareLimitShare { bound_by: Bound::SystemCall, min_ns: 1.0, share: 0.092 });
        }
        all
    }

    #[test]
    fn at_every_width_no_line_is_wider_and_every_figure_stays_whole() {
        let all = wide();
        let whole = sections(&all, ErrorBar::ConfidenceInterval);
        let figures: Vec<String> = whole
            .iter()
            .flat_map(|section| [Some(&section.results), section.hardware_limit_shares.as_ref()])
            .flat_map(|figures| figures.unwrap().layout(usize::MAX).rows)
            .flat_map(|(_, cells)| cells)
            .flat_map(|cell| cell.lines().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        for columns in 40..=200 {
            let text = crate::terminal::wrap(
                &tables(&all, ErrorBar::ConfidenceInterval, columns),
                columns,
            );
            let widest = text.lines().map(display_width).max();
            assert!(widest <= Some(columns), "{widest:?} of {columns}:\n{text}");
            for figure in &figures {
                assert!(text.contains(figure), "{figure} at {columns}:\n{text}");
            }
            let count = |what: &str| text.matches(what).count();
            let wanted = figures.iter().filter(|figure| figure.contains("GB/s")).count();
            assert_eq!(count("GB/s"), wanted, "{columns}:\n{text}");
        }
    }

    #[test]
    fn a_narrow_terminal_gets_more_tables_and_broken_names() {
        let mut all = scripted(WorkloadKind::Stream, &["pipe", "unix-stream-named"], &[64, 4096]);
        for case in &mut all[2..] {
            case.case.options.insert("address".to_owned(), "abstract".to_owned());
        }
        insta::assert_snapshot!(tables(&all, ErrorBar::Iqr, 45));
    }

    /// Formats the tables of a stream by mechanisms with the given numbers of repetitions.
    fn tables_with_counts(counts: &[(&str, u32)]) -> String {
        let (mut cases, mut samples) = (Vec::new(), Vec::new());
        for &(mechanism, count) in counts {
            for block in 0..=count {
                samples.push(sample(
                    mechanism,
                    WorkloadKind::Stream,
                    64,
                    block,
                    1_000 + u64::from(block),
                ));
            }
            cases.push(samples[samples.len() - 1].run.case.case_id.clone());
        }
        tables(&summarize(&cases, &[], &samples, &[], None), ErrorBar::Iqr, 116)
    }

    #[test]
    fn one_or_two_repetitions_have_their_number_and_no_spread() {
        let text = tables_with_counts(&[("pipe", 1), ("tcp", 2), ("fifo", 3)]);
        assert!(text.contains("s (n = 1)") && text.contains("s (n = 2)"), "{text}");
        assert_eq!(text.matches(" %)").count(), 1, "{text}");
        let all = scripted(WorkloadKind::Stream, &["pipe"], &[64]);
        let few = summarize(
            &[all[0].case.case_id.clone()],
            &[],
            &[sample("pipe", WorkloadKind::Stream, 64, 1, 1_000)],
            &[],
            None,
        );
        let spread = serde_json::to_value(few[0].bandwidth_bytes_per_s).unwrap();
        assert!(spread["q1"].is_null() && spread["q3"].is_null() && spread["n"] == 1, "{spread}");
    }

    /// With five rows without a result and one of nine repetitions, the heading must not say nine.
    #[test]
    fn the_head_says_of_how_many_repetitions_all_its_rows_are() {
        assert!(tables_with_counts(&[("pipe", 9), ("tcp", 10)]).contains("n = 9 to 10"));
        let text = tables_with_counts(&[("pipe", 9), ("tcp", 0), ("fifo", 0)]);
        assert!(text.contains("n = 0 to 9"), "{text}");
    }
}
