//! Two quantities of the same case: a mark for each case, at both medians.

use ipcperf_results::analysis::{CaseSummary, Spread};

use super::chart::{Content, Curve, Point, SeriesNames, Validity};
use super::figure_spec::FigureSpec;
use super::group::Group;
use super::quantity::Quantity;
use crate::wording::metric_text;

/// Returns a mark for each case of the group of which both quantities are known.
pub(super) fn marks(description: &FigureSpec, group: &Group, names: &SeriesNames) -> Content {
    let curve = |case: &&CaseSummary| {
        let role = group.role.as_deref();
        let x = description.x.evaluate(case, role)?;
        let y = description.y.evaluate(case, role)?;
        let point = Point {
            x: x.median,
            y: y.median,
            weight: 1.0,
            validity: Validity::Valid,
            tooltip: tooltip(case, (&description.x, &x), (&description.y, &y)),
        };
        let across = x.quartiles().map(|[low, high]| [low, y.median, high, y.median]);
        let up = y.quartiles().map(|[low, high]| [x.median, low, x.median, high]);
        Some(Curve {
            series: names.number(case)?,
            points: vec![point],
            whiskers: across.into_iter().chain(up).collect(),
            ..Curve::default()
        })
    };
    Content { curves: group.cases.iter().filter_map(curve).collect(), rows: Vec::new() }
}

fn tooltip(case: &CaseSummary, x: (&Quantity, &Spread), y: (&Quantity, &Spread)) -> String {
    let text = |(quantity, spread): (&Quantity, &Spread)| {
        let half = metric_text::middle_half(spread, |value| quantity.format(value));
        format!("{} {} ({half})", quantity.name(), quantity.format(spread.median))
    };
    format!("{}: {}, {}", case.series(), text(y), text(x))
}
