//! plateaus-at: from some level on a line of cases is flat.

use std::collections::BTreeMap;

use ipcperf_stats::{Bootstrap, Plateau, geometric_mean};

use super::interval::{Bounds, Sure, median_of};
use super::sides::alone;
use super::{Cells, Claim, Estimate, Found, Line, Part, Point, Test};
use crate::study::{Key, Metric, Need, Takes};

pub(super) const TEST: Test = Test {
    name: "plateaus-at",
    about: "from some level on each line is flat, at a height that may be given",
    formula: "The flat part that is claimed: the largest `levels` levels, and all from `by` on. In each block that \
              has all of it, each level is divided by their geometric mean, or in each block by the height \
              given; at each level the 1 - level interval of the median over blocks, by order statistics. \
              Supported where it lies within `tolerance` of 1 at every level, rejected where at one of them \
              that of 1 - level/m, for m levels, lies wholly outside. Told beside: the lowest level from which \
              on all medians lie within `tolerance` of their own median, with its interval over resamples of \
              whole blocks.",
    assumptions: "Blocks are independent. Lines that are flat throughout have their plateau from the first \
                  level on.",
    source: "Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15; Berger 1982, Technometrics 24; \
             David and Nagaraja 2003, Order Statistics, section 7.1; Efron 1979, Annals of Statistics 7",
    keys: &[TOLERANCE, LEVELS, HEIGHT, HEIGHT_OF, FROM],
    find,
};

const TOLERANCE: Key = Key {
    name: "tolerance",
    takes: Takes::Number(0.000_1, 1.0),
    need: Need::Optional("0.1"),
    about: "the share by which levels may lie off the plateau",
    example: "0.1",
};

const LEVELS: Key = Key {
    name: "levels",
    takes: Takes::Whole(2, 1_000),
    need: Need::Optional("3"),
    about: "levels that the plateau must have at least, up to the largest",
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
        let values: Vec<f64> = line.points.iter().flat_map(Point::all).collect();
        Some((line.levels, ipcperf_stats::median(&values)?))
    };
    lines.into_iter().filter_map(median).collect()
}

fn part(claim: &Claim, line: &Line<'_>, height: Option<f64>, unit: &str) -> Part {
    let flat = flat_part(claim, line);
    let least = usize::try_from(claim.values.whole("levels").unwrap_or(3)).unwrap_or(usize::MAX);
    if flat.len() < least {
        let reason = format!("{} levels were measured, and {least} must be flat", flat.len());
        return Part::untestable(line.name.clone(), reason);
    }
    let levels = levels(claim, flat, height);
    let farthest = |level: &&Part| level.estimates.first().map_or(0.0, |one| one.value.ln().abs());
    let widest = levels.iter().max_by(|one, other| farthest(one).total_cmp(&farthest(other)));
    let mut part = Part::new(line.name.clone(), widest.map_or(0, |level| level.n));
    part.unit = unit.to_owned();
    part.estimates = seen(claim, line, height, unit);
    part.estimates.extend(widest.and_then(|level| {
        let name = format!("farthest at {}", level.what);
        Some(Estimate { name, ..level.estimates.first()?.clone() })
    }));
    part.verdict = Found::of(levels, 1.0).verdict;
    part
}

/// The levels that are claimed to be flat.
fn flat_part<'p>(claim: &Claim, line: &'p Line<'_>) -> &'p [Point] {
    let least = usize::try_from(claim.values.whole("levels").unwrap_or(3)).unwrap_or(usize::MAX);
    let last = line.points.len().saturating_sub(least);
    #[allow(clippy::cast_precision_loss, reason = "a size, beside levels that are floats")]
    let by = claim.values.whole("by").map_or(f64::INFINITY, |bytes| bytes as f64);
    &line.points[line.points.partition_point(|point| point.x < by).min(last)..]
}

/// How far each level of the flat part lies off its height.
fn levels(claim: &Claim, flat: &[Point], height: Option<f64>) -> Vec<Part> {
    let tolerance = claim.values.number("tolerance").unwrap_or(0.1);
    let bounds = Bounds { above: Some(1.0 - tolerance), below: Some(1.0 + tolerance) };
    let sure = Sure::of(claim, flat.len(), claim.level());
    let own = own_heights(flat);
    let level = |point: &Point| {
        let off = point.values.iter().filter_map(|(block, value)| {
            height.or_else(|| own.get(block).copied()).map(|height| value / height)
        });
        let off: Vec<f64> = off.filter(|off| off.is_finite()).collect();
        if off.is_empty() {
            return Part::untestable(&point.label, "no block has all of the flat part, above 0");
        }
        let mut part = Part::new(point.label.clone(), off.len());
        let (verdict, estimate) = bounds.judge(|at| median_of("off", &off, at), sure, off.len());
        part.verdict = verdict;
        part.estimates.extend(estimate);
        part
    };
    flat.iter().map(level).collect()
}

/// The geometric mean over levels in each block that has all of them: without one of them it would be that of
/// another part of the line.
fn own_heights(flat: &[Point]) -> BTreeMap<u32, f64> {
    let Some(first) = flat.first() else { return BTreeMap::new() };
    let mean = |block: &u32| {
        let values: Option<Vec<f64>> =
            flat.iter().map(|point| point.values.get(block).copied()).collect();
        geometric_mean(&values?).ok()
    };
    first.values.keys().filter_map(|block| Some((*block, mean(block)?))).collect()
}

/// The plateau that the medians have, wherever it begins.
fn seen(claim: &Claim, line: &Line<'_>, height: Option<f64>, unit: &str) -> Vec<Estimate> {
    let tolerance = claim.values.number("tolerance").unwrap_or(0.1);
    let bootstrap = Bootstrap::default();
    let found = line.curve().ok().and_then(|curve| match height {
        Some(height) => curve.plateau_at(height, tolerance, &bootstrap).ok().flatten(),
        None => curve.plateau(tolerance, &bootstrap).ok().flatten(),
    });
    found.map_or_else(Vec::new, |plateau| estimates(&plateau, unit).to_vec())
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

#[cfg(test)]
mod tests {
    use crate::hypothesis::made::made;

    const KEYS: &str = "test = \"plateaus-at\"\nwhere = { mechanism = \"pipe\" }\n";

    #[test]
    fn a_flat_end_is_supported_and_a_rising_one_rejected() {
        let of = |values: &[f64; 6], keys: &str| {
            made(10, 0.02, &[("pipe", values)]).word(&format!("{KEYS}{keys}"))
        };
        assert_eq!(of(&[1.0, 2.0, 4.0, 4.0, 4.0, 4.0], ""), "supported");
        assert_eq!(of(&[1.0, 1.3, 1.6, 2.0, 2.6, 3.2], ""), "rejected");
        assert_eq!(of(&[4.0, 4.0, 4.0, 4.0, 4.0, 6.0], ""), "rejected");
        assert_eq!(of(&[1.0, 2.0, 4.0, 4.0, 4.0, 4.0], "by = \"2KiB\"\n"), "supported");
        assert_eq!(of(&[1.0, 2.0, 4.0, 4.0, 4.0, 4.0], "by = \"1KiB\"\n"), "rejected");
    }

    #[test]
    fn a_height_that_is_given_must_be_that_of_the_plateau() {
        let flat = made(10, 0.02, &[("pipe", &[1.0, 4.0, 4.0, 4.0])]);
        let at = |height: &str| flat.word(&format!("{KEYS}height = {height}\n"));
        assert_eq!((at("4e9"), at("5e9")), ("supported", "rejected"));
    }

    #[test]
    fn one_level_off_the_tolerance_by_chance_is_open() {
        let noisy = made(10, 0.3, &[("pipe", &[4.0, 4.0, 4.0])]);
        assert_eq!(noisy.word(KEYS), "inconclusive");
        assert!(noisy.repetitions(KEYS).is_some_and(|needed| needed > 10));
    }

    #[test]
    fn too_few_levels_are_no_plateau_and_too_few_blocks_show_none() {
        assert_eq!(made(10, 0.02, &[("pipe", &[4.0, 4.0])]).word(KEYS), "not testable here");
        assert_eq!(made(5, 0.0, &[("pipe", &[4.0; 4])]).word(KEYS), "inconclusive");
        assert_eq!(made(6, 0.0, &[("pipe", &[4.0; 4])]).word(KEYS), "supported");
    }
}
