//! Cases with several modes: one row for each, with a dot for each mode.

use ipcperf_model::units;
use ipcperf_results::analysis::{CaseSummary, DistributionMode};

use super::chart::{Content, Curve, Point, SeriesNames, Validity};
use super::frame::MAX_ROW_LABEL_CHARS;
use super::group::Group;
use super::quantity::Quantity;

/// Maximum number of rows in a panel. The remaining cases, whose modes are closer together, appear only in the notes.
const MAX_ROWS: usize = 20;

/// Returns the cases of the group that have several modes.
pub(super) fn rows(quantity: &Quantity, group: &Group, names: &SeriesNames) -> Content {
    let modes = |case: &CaseSummary| match quantity {
        Quantity::SingleRoundTrip => case.round_trip_modes.clone(),
        _ => case.modes.clone(),
    };
    let mut cases: Vec<(&CaseSummary, Vec<DistributionMode>)> =
        group.cases.iter().map(|case| (*case, modes(case))).collect();
    cases.retain(|(_, modes)| !modes.is_empty());
    cases.sort_by(|(_, one), (_, other)| mode_ratio(other).total_cmp(&mode_ratio(one)));
    cases.truncate(MAX_ROWS);
    cases.sort_by_key(|(case, _)| (names.number(case), case.case.buffer_bytes));
    let mut content = Content::default();
    for (case, modes) in cases {
        let Some(series) = names.number(case) else { continue };
        content.curves.push(row(quantity, case, &modes, (series, content.rows.len())));
        content.rows.push(label_with_modes(quantity, case, &modes));
    }
    content
}

/// Returns the ratio of the largest mode to the smallest.
fn mode_ratio(modes: &[DistributionMode]) -> f64 {
    let medians = || modes.iter().map(|mode| mode.median);
    medians().fold(0.0, f64::max) / medians().fold(f64::INFINITY, f64::min)
}

fn label(case: &CaseSummary) -> String {
    format!("{}, {}", case.series(), case.case.size_text())
}

/// Labels a row with the case and its modes, because paper has no tooltips. Omits the modes if they do not fit.
fn label_with_modes(quantity: &Quantity, case: &CaseSummary, modes: &[DistributionMode]) -> String {
    let mode = |mode: &DistributionMode| {
        format!("{} {}", units::percent(mode.share), quantity.format(mode.median))
    };
    let label = label(case);
    let modes = modes.iter().map(mode).collect::<Vec<_>>().join(", ");
    let whole = format!("{label}: {modes}");
    if whole.chars().count() <= MAX_ROW_LABEL_CHARS { whole } else { label }
}

#[allow(clippy::cast_precision_loss, reason = "rows are few")]
fn row(
    quantity: &Quantity,
    case: &CaseSummary,
    modes: &[DistributionMode],
    at: (usize, usize),
) -> Curve {
    let (series, row) = (at.0, at.1 as f64);
    let what = match quantity {
        Quantity::SingleRoundTrip => "round trips",
        _ => "repetitions",
    };
    let label = label(case);
    let point = |mode: &DistributionMode| {
        let (share, value) = (units::percent(mode.share), quantity.format(mode.median));
        let words = format!("{label}: {share} of the {what} at {value}");
        Point {
            x: mode.median,
            y: row,
            weight: 4.0 * mode.share,
            validity: Validity::Valid,
            tooltip: words,
        }
    };
    let points: Vec<Point> = modes.iter().map(point).collect();
    let whiskers = points.windows(2).map(|pair| [pair[0].x, row, pair[1].x, row]).collect();
    Curve { series, points, whiskers, ..Curve::default() }
}
