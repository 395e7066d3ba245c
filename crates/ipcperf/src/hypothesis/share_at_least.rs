//! share-at-least: something is at least a share of a whole.

use std::collections::BTreeMap;

use ipcperf_stats::{Bootstrap, median};

use super::interval::Bounds;
use super::sides::alone;
use super::{Cells, Claim, Estimate, Found, Line, Part, Point, Test};
use crate::study::{Key, Need, Takes};

pub(super) const TEST: Test = Test {
    name: "share-at-least",
    about: "the metric, or its part of another one, is at least a share",
    formula: "At each level the median over blocks of the metric over the whole, with its interval by order \
              statistics. Supported where the interval lies above the share, rejected where it lies below.",
    assumptions: "Blocks are independent.",
    source: "David and Nagaraja 2003, Order Statistics, section 7.1",
    keys: &[SHARE, WHOLE, FROM],
    find,
};

const SHARE: Key = Key {
    name: "share",
    takes: Takes::Number(0.0, 1.0),
    need: Need::Required,
    about: "the share",
    example: "0.5",
};

const WHOLE: Key = Key {
    name: "of",
    takes: Takes::Metric,
    need: Need::Optional("the metric is a share itself"),
    about: "the metric that is the whole",
    example: "\"cpu\"",
};

const FROM: Key = Key {
    name: "from",
    takes: Takes::Bytes,
    need: Need::Optional("the first"),
    about: "the level from which it is claimed",
    example: "\"1MB\"",
};

fn find(claim: &Claim, cells: &Cells<'_>) -> Found {
    let metric = claim.metric();
    let lines = match alone(claim, cells, &metric) {
        Ok(lines) => lines,
        Err(found) => return found,
    };
    let wholes = match claim.values.metric("of").map(|whole| alone(claim, cells, whole)) {
        Some(Err(found)) => return found,
        Some(Ok(wholes)) => Some(wholes),
        None => None,
    };
    #[allow(clippy::cast_precision_loss, reason = "a size, beside levels that are floats")]
    let from = claim.values.whole("from").unwrap_or(0) as f64;
    let mut parts = Vec::new();
    for line in &lines {
        let whole =
            wholes.as_ref().map(|wholes| wholes.iter().find(|whole| whole.levels == line.levels));
        for point in line.points.iter().filter(|point| point.x >= from) {
            let what = if lines.len() == 1 {
                point.label.clone()
            } else {
                format!("{}, {}", line.name, point.label)
            };
            parts.push(part(claim, what, &shares(point, whole)));
        }
    }
    if parts.is_empty() {
        return Found::untestable("no level from there on was measured");
    }
    Found::of(parts, claim.need())
}

/// The share by block.
fn shares(point: &Point, whole: Option<Option<&Line<'_>>>) -> Vec<f64> {
    let Some(whole) = whole else { return point.all() };
    let none = BTreeMap::new();
    let there =
        whole.and_then(|line| line.points.iter().find(|one| one.x.total_cmp(&point.x).is_eq()));
    let wholes = there.map_or(&none, |point| &point.values);
    let share = |(block, value): (&u32, &f64)| {
        wholes.get(block).filter(|whole| **whole > 0.0).map(|whole| value / whole)
    };
    point.values.iter().filter_map(share).collect()
}

fn part(claim: &Claim, what: String, shares: &[f64]) -> Part {
    let Some(middle) = median(shares) else { return Part::untestable(what, "no run has a share") };
    let interval = Bootstrap::default().median(shares);
    let estimate = Estimate {
        name: "share".to_owned(),
        value: middle,
        low: interval.map(|ends| ends.low),
        high: interval.map(|ends| ends.high),
        level: 0.95,
        unit: String::new(),
    };
    let mut part = Part::new(what, shares.len());
    part.verdict =
        Bounds { above: claim.values.number("share"), below: None }.judge(&estimate, part.n);
    part.estimates.push(estimate);
    part
}
