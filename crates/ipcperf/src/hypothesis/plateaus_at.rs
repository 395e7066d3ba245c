//! plateaus-at: from some level on a line of cases is flat.

use ipcperf_stats::{Bootstrap, Plateau};

use super::sides::alone;
use super::{Cells, Claim, Estimate, Found, Line, Part, Test, Verdict};
use crate::study::{Key, Metric, Need, Takes};

pub(super) const TEST: Test = Test {
    name: "plateaus-at",
    about: "from some level on each line is flat, at a height that may be given",
    formula: "The lowest level from which on all medians lie within `tolerance` of their own median, or of the \
              height given, and over how many resamples of whole blocks there is one of that many levels. \
              Supported where 95 % of resamples have it, rejected where at most 5 % do.",
    assumptions: "Blocks are independent. Lines that are flat throughout have their plateau from the first \
                  level on.",
    source: "our own; the bootstrap of Efron 1979, Annals of Statistics 7",
    keys: &[TOLERANCE, LEVELS, HEIGHT, HEIGHT_OF, FROM],
    find,
};

const TOLERANCE: Key = Key {
    name: "tolerance",
    takes: Takes::Number(0.000_1, 1.0),
    need: Need::Optional("0.1"),
    about: "the share by which medians may lie off the plateau",
    example: "0.1",
};

const LEVELS: Key = Key {
    name: "levels",
    takes: Takes::Whole(2, 1_000),
    need: Need::Optional("3"),
    about: "levels that the plateau must have",
    example: "3",
};

const HEIGHT: Key = Key {
    name: "height",
    takes: Takes::Number(0.0, f64::MAX),
    need: Need::Optional("its own"),
    about: "the height of the plateau, in the unit of the metric",
    example: "65536",
};

const HEIGHT_OF: Key = Key {
    name: "height_of",
    takes: Takes::Metric,
    need: Need::Optional("none"),
    about: "the metric whose median over the line is the height",
    example: "\"kernel_buffer\"",
};

const FROM: Key = Key {
    name: "by",
    takes: Takes::Bytes,
    need: Need::Optional("anywhere"),
    about: "the level at which it must have begun",
    example: "\"64KiB\"",
};

fn find(claim: &Claim, cells: &Cells<'_>) -> Found {
    let metric = claim.metric();
    let lines = match alone(claim, cells, &metric) {
        Ok(lines) => lines,
        Err(found) => return found,
    };
    let unit = metric.unit(lines.iter().find_map(|line| line.example)).to_owned();
    let heights = claim.values.metric("height_of").map(|height| heights(claim, cells, height));
    let part = |line: &Line<'_>| {
        let height = match &heights {
            Some(heights) => {
                heights.iter().find(|(levels, _)| *levels == line.levels).map(|(_, height)| *height)
            }
            None => claim.values.number("height"),
        };
        if heights.is_some() && height.is_none() {
            return Part::untestable(line.name.clone(), "its height was not measured");
        }
        part(claim, line, height, &unit)
    };
    Found::of(lines.iter().map(part).collect(), claim.need())
}

/// The height of each line.
fn heights(claim: &Claim, cells: &Cells<'_>, metric: &Metric) -> Vec<(crate::study::Levels, f64)> {
    let lines = alone(claim, cells, metric).unwrap_or_default();
    let median = |line: Line<'_>| {
        let values: Vec<f64> = line.points.iter().flat_map(|point| point.all()).collect();
        Some((line.levels, ipcperf_stats::median(&values)?))
    };
    lines.into_iter().filter_map(median).collect()
}

fn part(claim: &Claim, line: &Line<'_>, height: Option<f64>, unit: &str) -> Part {
    let tolerance = claim.values.number("tolerance").unwrap_or(0.1);
    let bootstrap = Bootstrap::default();
    let curve = match line.curve() {
        Ok(curve) => curve,
        Err(why) => return Part::untestable(line.name.clone(), why.to_string()),
    };
    let found = match height {
        Some(height) => curve.plateau_at(height, tolerance, &bootstrap),
        None => curve.plateau(tolerance, &bootstrap),
    };
    let mut part = Part::new(line.name.clone(), curve.blocks().len());
    part.unit = unit.to_owned();
    match found {
        Err(why) => return Part::untestable(line.name.clone(), why.to_string()),
        Ok(None) => part.verdict = Verdict::Rejected,
        Ok(Some(plateau)) => {
            part.estimates.extend(estimates(&plateau, unit));
            part.verdict = verdict(claim, &plateau);
        }
    }
    part
}

fn estimates(plateau: &Plateau, unit: &str) -> [Estimate; 2] {
    let height = Estimate {
        name: "height".to_owned(),
        value: plateau.height,
        low: plateau.interval.map(|ends| ends.low),
        high: plateau.interval.map(|ends| ends.high),
        level: 0.95,
        unit: unit.to_owned(),
    };
    let from = Estimate {
        name: "from".to_owned(),
        value: plateau.from,
        low: plateau.from_interval.map(|ends| ends.low),
        high: plateau.from_interval.map(|ends| ends.high),
        level: 0.95,
        unit: "bytes".to_owned(),
    };
    [height, from]
}

fn verdict(claim: &Claim, plateau: &Plateau) -> Verdict {
    let levels = usize::try_from(claim.values.whole("levels").unwrap_or(3)).unwrap_or(usize::MAX);
    #[allow(clippy::cast_precision_loss, reason = "a size, beside levels that are floats")]
    let by = claim.values.whole("by").map_or(f64::INFINITY, |bytes| bytes as f64);
    let begins =
        plateau.from_interval.map_or((plateau.from, plateau.from), |ends| (ends.low, ends.high));
    let share = plateau.share.unwrap_or(0.0);
    if plateau.levels >= levels && share >= 0.95 && begins.1 <= by {
        Verdict::Supported
    } else if begins.0 > by || plateau.levels < levels && share >= 0.95 || share <= 0.05 {
        Verdict::Rejected
    } else {
        Verdict::Inconclusive { repetitions: None }
    }
}
