//! The median of each case with the middle half around it.

use super::chart::{Content, Curve, Group, Names, Point};
use super::quantity::Quantity;
use crate::output::units;
use crate::plan::Bytes;
use crate::summary::{CaseSummary, Mode, Spread};

/// A curve over the buffer size for each series.
pub(super) fn curves(quantity: Quantity, group: &Group, names: &Names) -> Content {
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

/// A row for each series.
pub(super) fn rows(quantity: Quantity, group: &Group, names: &Names) -> Content {
    let mut content = Content::default();
    for (mut curve, cases) in by_series(group, names) {
        let Some(figure) = cases.first().and_then(|case| Value::of(quantity, group, case)) else {
            continue;
        };
        #[allow(clippy::cast_precision_loss, reason = "rows are few")]
        let row = content.rows.len() as f64;
        let Value { spread, main, others, .. } = &figure;
        if figure.has_one_mode() {
            curve.whiskers.push([spread.q1, row, spread.q3, row]);
        }
        let at =
            |(x, words): &(f64, String)| Point { x: *x, y: row, weight: 1.0, words: words.clone() };
        curve.points.push(at(main));
        curve.points.extend(others.iter().map(at));
        content.rows.push(cases[0].series());
        content.curves.push(curve);
    }
    content
}

/// The cases of each series, with a curve to fill.
fn by_series<'a>(group: &Group<'a>, names: &Names) -> Vec<(Curve, Vec<&'a CaseSummary>)> {
    let mut series: Vec<(Curve, Vec<&CaseSummary>)> = Vec::new();
    for case in &group.cases {
        let Some(number) = names.number(case) else { continue };
        match series.iter_mut().find(|(curve, _)| curve.series == number) {
            Some((_, cases)) => cases.push(case),
            None => series.push((Curve { series: number, ..Curve::default() }, vec![case])),
        }
    }
    series
}

#[allow(clippy::cast_precision_loss, reason = "buffer sizes on an axis")]
fn add_to_line(curve: &mut Curve, quantity: Quantity, group: &Group, case: &CaseSummary) {
    let Some(value) = Value::of(quantity, group, case) else { return };
    let x = case.case.buffer_bytes as f64;
    curve.line.push([x, value.main.0]);
    let [low, high] = match value.has_one_mode() {
        true => [value.spread.q1, value.spread.q3],
        false => [value.main.0; 2],
    };
    curve.band.push([x, low, high]);
    let points = std::iter::once(value.main).chain(value.others);
    curve.points.extend(points.map(|(y, words)| Point { x, y, weight: 1.0, words }));
}

/// What is drawn of a case: one figure, or its largest mode and the others.
struct Value {
    spread: Spread,
    main: (f64, String),
    others: Vec<(f64, String)>,
}

impl Value {
    fn of(quantity: Quantity, group: &Group, case: &CaseSummary) -> Option<Self> {
        let spread = quantity.of(case, group.role.as_deref())?;
        let mut modes = modes_of(quantity, case, &spread);
        let (name, size) = (case.series(), Bytes(case.case.buffer_bytes));
        let bound = match (quantity, &case.roof) {
            (Quantity::ShareOfLimit, Some(roof)) => format!(" of {}", roof.bound.name()),
            _ => String::new(),
        };
        let of_mode = |mode: &Mode| {
            let (share, value) = (units::percent(mode.share), quantity.words(mode.median));
            (mode.median, format!("{name}, {size}: {value}{bound} in {share} of the repetitions"))
        };
        if modes.is_empty() {
            let [middle, low, high] =
                [spread.median, spread.q1, spread.q3].map(|value| quantity.words(value));
            let n = spread.n;
            let words =
                format!("{name}, {size}: {middle}{bound} (middle half {low} to {high}, n = {n})");
            return Some(Self { spread, main: (spread.median, words), others: Vec::new() });
        }
        modes.sort_by(|one, other| other.share.total_cmp(&one.share));
        let mut all = modes.iter().map(of_mode);
        Some(Self { spread, main: all.next()?, others: all.collect() })
    }

    fn has_one_mode(&self) -> bool {
        self.others.is_empty()
    }
}

/// The modes of a case in the units of `quantity`, where it has several.
fn modes_of(quantity: Quantity, case: &CaseSummary, spread: &Spread) -> Vec<Mode> {
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
    case.modes.iter().filter_map(scaled).collect()
}
