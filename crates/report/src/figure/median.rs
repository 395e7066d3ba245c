//! Medians of cases with the middle half of their values.

use std::collections::BTreeMap;

use ipcperf_model::units;
use ipcperf_results::analysis::{CaseSummary, DistributionMode, Spread};

use super::chart::{Content, Curve, Point, SeriesNames, Validity};
use super::frame::MAX_ROWS;
use super::group::Group;
use super::quantity::Quantity;
use crate::wording::metric_text;

/// Returns a curve over the buffer size for each series.
pub(super) fn curves(quantity: &Quantity, group: &Group, names: &SeriesNames) -> Content {
    let mut curves = by_series(group, names);
    curves.retain_mut(|(curve, cases)| {
        cases.sort_by_key(|case| case.case.buffer_bytes);
        for case in cases.iter() {
            add_to_line(curve, quantity, group, case);
        }
        !curve.points.is_empty()
    });
    Content { curves: curves.into_iter().map(|(curve, _)| curve).collect(), rows: Vec::new() }
}

/// Returns a row for each series.
pub(super) fn rows(quantity: &Quantity, group: &Group, names: &SeriesNames) -> Content {
    let mut content = Content::default();
    for (mut curve, cases) in by_series(group, names).into_iter().take(MAX_ROWS) {
        let Some(value) =
            cases.first().and_then(|case| CaseValue::from_case(quantity, group, case))
        else {
            continue;
        };
        #[allow(clippy::cast_precision_loss, reason = "rows are few")]
        let row = content.rows.len() as f64;
        curve.whiskers.extend(value.quartiles.map(|[low, high]| [low, row, high, row]));
        let point = |Mark { value, validity: trust, tooltip: words }| Point {
            x: value,
            y: row,
            weight: 1.0,
            validity: trust,
            tooltip: words,
        };
        curve.points.extend(value.marks.into_iter().map(point));
        content.rows.push(cases[0].series());
        content.curves.push(curve);
    }
    content
}

/// Groups the cases by series, in the order of the names, each with an empty curve.
fn by_series<'a>(group: &Group<'a>, names: &SeriesNames) -> Vec<(Curve, Vec<&'a CaseSummary>)> {
    let mut series: BTreeMap<usize, Vec<&CaseSummary>> = BTreeMap::new();
    for case in &group.cases {
        if let Some(number) = names.number(case) {
            series.entry(number).or_default().push(case);
        }
    }
    let curve = |series| Curve { series, ..Curve::default() };
    series.into_iter().map(|(number, cases)| (curve(number), cases)).collect()
}

#[allow(clippy::cast_precision_loss, reason = "buffer sizes on an axis")]
fn add_to_line(curve: &mut Curve, quantity: &Quantity, group: &Group, case: &CaseSummary) {
    let Some(CaseValue { line_value: middle, quartiles: half, marks }) =
        CaseValue::from_case(quantity, group, case)
    else {
        return;
    };
    let x = case.case.buffer_bytes as f64;
    if let Some(middle) = middle {
        let [low, high] = half.unwrap_or([middle; 2]);
        curve.line.push([x, middle]);
        curve.band.push([x, low, high]);
    }
    let point = |Mark { value, validity: trust, tooltip: words }| Point {
        x,
        y: value,
        weight: 1.0,
        validity: trust,
        tooltip: words,
    };
    curve.points.extend(marks.into_iter().map(point));
}

/// Data drawn for a case.
struct CaseValue {
    /// Value on the line: the median, or the largest mode.
    line_value: Option<f64>,
    /// The middle half, if there is a single mode.
    quartiles: Option<[f64; 2]>,
    marks: Vec<Mark>,
}

/// A point without its horizontal position.
struct Mark {
    value: f64,
    validity: Validity,
    tooltip: String,
}

impl CaseValue {
    fn from_case(quantity: &Quantity, group: &Group, case: &CaseSummary) -> Option<Self> {
        let name = format!("{}, {}", case.series(), case.case.size_text());
        let Some(spread) = quantity.evaluate(case, group.role.as_deref()) else {
            return Self::from_disturbed_runs(quantity, case, &name);
        };
        let bound = match (quantity, &case.hardware_limit) {
            (Quantity::ShareOfLimit, Some(roof)) => format!(" of {}", roof.bound_by.name()),
            _ => String::new(),
        };
        let modes = scaled_modes(quantity, case, &spread);
        if modes.is_empty() {
            return Some(Self::from_single_mode(quantity, &spread, &format!("{name}: "), &bound));
        }
        let mark = |mode: &DistributionMode| {
            let (share, value) = (units::percent(mode.share), quantity.format(mode.median));
            let words = format!("{name}: {value}{bound} in {share} of the repetitions");
            Mark { value: mode.median, validity: Validity::Valid, tooltip: words }
        };
        let largest = modes.first().map(|mode| mode.median);
        Some(Self { line_value: largest, quartiles: None, marks: modes.iter().map(mark).collect() })
    }

    fn from_single_mode(quantity: &Quantity, spread: &Spread, name: &str, bound: &str) -> Self {
        let (median, half) = (spread.median, spread.quartiles());
        let middle = quantity.format(median);
        let n = metric_text::middle_half(spread, |value| quantity.format(value));
        let words = format!("{name}{middle}{bound} ({n})");
        let mark = Mark { value: median, validity: Validity::Valid, tooltip: words };
        Self { line_value: Some(median), quartiles: half, marks: vec![mark] }
    }

    /// Returns the median of a case whose runs were all disturbed. No line passes through it.
    fn from_disturbed_runs(quantity: &Quantity, case: &CaseSummary, name: &str) -> Option<Self> {
        let is_main = matches!(quantity, Quantity::Bandwidth | Quantity::RoundTripMean);
        let value = case.disturbed_median.filter(|_| is_main && case.main().is_none())?;
        let (seen, times) = (quantity.format(value), case.disturbed);
        let words = format!("{name}: {seen}? Unreliable: all {times} runs were disturbed");
        let mark = Mark { value, validity: Validity::Disturbed, tooltip: words };
        Some(Self { line_value: None, quartiles: None, marks: vec![mark] })
    }
}

/// Returns the modes of a case in the unit of `quantity`, largest first. Empty if there is only one.
fn scaled_modes(quantity: &Quantity, case: &CaseSummary, spread: &Spread) -> Vec<DistributionMode> {
    let Some(main) = case.main().map(|figure| figure.spread().median) else {
        return Vec::new();
    };
    let scaled = |mode: &DistributionMode| match (quantity, case.bandwidth_bytes_per_s) {
        (Quantity::Bandwidth | Quantity::RoundTripMean, _) => Some(*mode),
        (Quantity::ShareOfLimit, Some(_)) => {
            Some(DistributionMode { median: spread.median * mode.median / main, ..*mode })
        }
        (Quantity::ShareOfLimit, None) => {
            Some(DistributionMode { median: spread.median * main / mode.median, ..*mode })
        }
        _ => None,
    };
    let mut modes: Vec<DistributionMode> = case.modes.iter().filter_map(scaled).collect();
    modes.sort_by(|one, other| other.share.total_cmp(&one.share));
    modes
}
