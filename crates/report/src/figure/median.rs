//! Medians of cases with the middle half of their values.

use std::collections::BTreeMap;

use ipcperf_model::size::Bytes;
use ipcperf_model::units;
use ipcperf_results::analysis::{CaseSummary, Mode, Spread};

use super::chart::{Content, Curve, Names, Point, Trust};
use super::frame::MOST_ROWS;
use super::group::Group;
use super::quantity::Quantity;
use crate::wording::figure_text;

/// Returns a curve over the buffer size for each series.
pub(super) fn curves(quantity: &Quantity, group: &Group, names: &Names) -> Content {
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
pub(super) fn rows(quantity: &Quantity, group: &Group, names: &Names) -> Content {
    let mut content = Content::default();
    for (mut curve, cases) in by_series(group, names).into_iter().take(MOST_ROWS) {
        let Some(value) = cases.first().and_then(|case| Value::of(quantity, group, case)) else {
            continue;
        };
        #[allow(clippy::cast_precision_loss, reason = "rows are few")]
        let row = content.rows.len() as f64;
        curve.whiskers.extend(value.half.map(|[low, high]| [low, row, high, row]));
        let point =
            |Mark { value, trust, words }| Point { x: value, y: row, weight: 1.0, trust, words };
        curve.points.extend(value.marks.into_iter().map(point));
        content.rows.push(cases[0].series());
        content.curves.push(curve);
    }
    content
}

/// Groups the cases by series, in the order of the names, each with an empty curve.
fn by_series<'a>(group: &Group<'a>, names: &Names) -> Vec<(Curve, Vec<&'a CaseSummary>)> {
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
    let Some(Value { middle, half, marks }) = Value::of(quantity, group, case) else { return };
    let x = case.case.buffer_bytes as f64;
    if let Some(middle) = middle {
        let [low, high] = half.unwrap_or([middle; 2]);
        curve.line.push([x, middle]);
        curve.band.push([x, low, high]);
    }
    let point = |Mark { value, trust, words }| Point { x, y: value, weight: 1.0, trust, words };
    curve.points.extend(marks.into_iter().map(point));
}

/// Data drawn for a case.
struct Value {
    /// Value on the line: the median, or the largest mode.
    middle: Option<f64>,
    /// The middle half, if there is a single mode.
    half: Option<[f64; 2]>,
    marks: Vec<Mark>,
}

/// A point without its horizontal position.
struct Mark {
    value: f64,
    trust: Trust,
    words: String,
}

impl Value {
    fn of(quantity: &Quantity, group: &Group, case: &CaseSummary) -> Option<Self> {
        let name = format!("{}, {}", case.series(), Bytes(case.case.buffer_bytes));
        let Some(spread) = quantity.of(case, group.role.as_deref()) else {
            return Self::held_up(quantity, case, &name);
        };
        let bound = match (quantity, &case.roof) {
            (Quantity::ShareOfLimit, Some(roof)) => format!(" of {}", roof.bound.name()),
            _ => String::new(),
        };
        let modes = modes_of(quantity, case, &spread);
        if modes.is_empty() {
            return Some(Self::of_one_mode(quantity, &spread, &format!("{name}: "), &bound));
        }
        let mark = |mode: &Mode| {
            let (share, value) = (units::percent(mode.share), quantity.words(mode.median));
            let words = format!("{name}: {value}{bound} in {share} of the repetitions");
            Mark { value: mode.median, trust: Trust::Counted, words }
        };
        let largest = modes.first().map(|mode| mode.median);
        Some(Self { middle: largest, half: None, marks: modes.iter().map(mark).collect() })
    }

    fn of_one_mode(quantity: &Quantity, spread: &Spread, name: &str, bound: &str) -> Self {
        let (median, half) = (spread.median, spread.middle_half());
        let middle = quantity.words(median);
        let n = figure_text::middle_half(spread, |value| quantity.words(value));
        let words = format!("{name}{middle}{bound} ({n})");
        let mark = Mark { value: median, trust: Trust::Counted, words };
        Self { middle: Some(median), half, marks: vec![mark] }
    }

    /// Returns the median of a case whose runs were all disturbed. No line passes through it.
    fn held_up(quantity: &Quantity, case: &CaseSummary, name: &str) -> Option<Self> {
        let is_main = matches!(quantity, Quantity::Bandwidth | Quantity::RoundTripMean);
        let value = case.disturbed_median.filter(|_| is_main && case.main().is_none())?;
        let (seen, times) = (quantity.words(value), case.disturbed);
        let words = format!("{name}: {seen}? Not to be believed: held up in all {times} runs");
        let mark = Mark { value, trust: Trust::HeldUp, words };
        Some(Self { middle: None, half: None, marks: vec![mark] })
    }
}

/// Returns the modes of a case in the unit of `quantity`, largest first. Empty if there is only one.
fn modes_of(quantity: &Quantity, case: &CaseSummary, spread: &Spread) -> Vec<Mode> {
    let Some(main) = case.main().map(|figure| figure.spread().median) else {
        return Vec::new();
    };
    let scaled = |mode: &Mode| match (quantity, case.bandwidth_bytes_per_s) {
        (Quantity::Bandwidth | Quantity::RoundTripMean, _) => Some(*mode),
        (Quantity::ShareOfLimit, Some(_)) => {
            Some(Mode { median: spread.median * mode.median / main, ..*mode })
        }
        (Quantity::ShareOfLimit, None) => {
            Some(Mode { median: spread.median * main / mode.median, ..*mode })
        }
        _ => None,
    };
    let mut modes: Vec<Mode> = case.modes.iter().filter_map(scaled).collect();
    modes.sort_by(|one, other| other.share.total_cmp(&one.share));
    modes
}
