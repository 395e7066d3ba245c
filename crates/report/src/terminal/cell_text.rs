//! Content of the cells of result tables, and the legend of the marks in them.

use ipcperf_model::units;
use ipcperf_results::analysis::{CaseSummary, DistributionMode, MainFigure};

use crate::wording::{ErrorBar, metric_text};

/// Mark after values of round trips that have several modes, which the notes list.
pub(super) const MULTIMODAL_MARK: &str = "†";
/// Mark before values of which every run was disturbed.
const DISTURBED_MARK: &str = "?";

/// Returns the legend of the marks in the cells of `cases`, one line each.
pub(super) fn legend(cases: &[&CaseSummary]) -> Vec<String> {
    let mut lines = Vec::new();
    if cases.iter().any(|case| is_disturbed_only(case)) {
        lines.push(format!(
            "{DISTURBED_MARK} other activity disturbed every run: median of the disturbed runs, not reliable"
        ));
    }
    if cases.iter().any(|case| case.main().is_some() && !case.round_trip_modes.is_empty()) {
        lines.push(format!(
            "{MULTIMODAL_MARK} round trips have several modes, which the notes list"
        ));
    }
    lines
}

/// Whether the only figure of a case is that of disturbed runs.
fn is_disturbed_only(case: &CaseSummary) -> bool {
    case.refused.is_none() && case.main().is_none() && case.failed == 0 && case.disturbed > 0
}

/// Formats the CPU time of a message or round trip of a case, all roles together. Empty if it is unknown.
pub(super) fn cpu_time_text(case: &CaseSummary) -> String {
    case.cpu_ns_per_message.map_or_else(String::new, |spread| units::time(spread.median))
}

/// Formats the share of the hardware limit that a case reaches.
pub(super) fn hardware_limit_share(case: &CaseSummary) -> String {
    case.hardware_limit.as_ref().map_or_else(String::new, |limit| {
        format!("{} of {}", units::percent(limit.share), limit.bound_by.name())
    })
}

/// Formats the main figure of a case. A case without one has `refused`, `failed`, `no valid run`, or the median and the
/// number of its disturbed runs.
pub(super) fn cell_text(case: &CaseSummary, error_bar: ErrorBar) -> String {
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
                streamed if streamed.is_streamed() && !case.case.is_harness_only() => {
                    units::bandwidth(value)
                }
                _ => units::time(value),
            });
            format!("{DISTURBED_MARK} {}\n{disturbed} disturbed", median.unwrap_or_default())
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
