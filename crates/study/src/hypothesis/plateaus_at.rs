//! plateaus-at: a line of cases is flat from some level on.

use ipcperf_stats::{Bootstrap, Interval};

use super::evidence::{EstimateKind, Place};
use super::flat::Flat;
use super::interval::{Bounds, Sure, median_of};
use super::key_values::{KeyError, KeyValues};
use super::operands::alone;
use super::picture::{BetterNote, Caption, Picture, Together};
use super::{Cells, Claim, Estimate, Found, Judge, Line, Part, Point, Test, parsed};
use crate::{Key, Metric, Need, Takes};

pub(super) const TEST: Test = Test {
    name: "plateaus-at",
    about: "from some level on each line is flat, at a height that may be given",
    formula: "The flat part that is claimed: the largest `levels` levels, and all from `by` on. In each block that \
              has all of it, each level is divided by their geometric mean, or in each block by the height \
              given; at each level the median over blocks, with its 1 - level interval by order statistics. \
              Supported where the interval lies within `tolerance` of 1 at every level (that of 1 - level/l, for \
              l lines, where `need` is below 1), rejected where at one of them that of 1 - level/(m l), for m \
              levels, lies wholly outside. The plateau that is told is by the same medians: it begins at the \
              flat part that is claimed, or below it as long as all from there on lie within `tolerance`; where \
              the claimed part does not, above it, where as many as `levels` do. Its height is the median over \
              blocks of the geometric mean over its levels, and the interval of its beginning is over resamples \
              of whole blocks.",
    assumptions: "Blocks are independent. Lines that are flat throughout have their plateau from the first \
                  level on.",
    source: "Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15; Berger 1982, Technometrics 24; \
             David and Nagaraja 2003, Order Statistics, section 7.1; Efron 1979, Annals of Statistics 7",
    keys: &[TOLERANCE, LEVELS, HEIGHT, HEIGHT_OF, FROM],
    picture: Picture {
        together: Together::All,
        caption: Caption::Always(
            "Dashed: the height of the plateau with its 95 % interval, and the level it begins at.",
        ),
        better: BetterNote::Hidden,
    },
    parse: parsed::<PlateausAtKeys>,
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

/// Keys of plateaus-at.
#[derive(Debug)]
struct PlateausAtKeys {
    tolerance: f64,
    /// Minimum number of levels of the plateau.
    levels: usize,
    height: Option<f64>,
    height_of: Option<Metric>,
    /// Level at which the plateau must have begun.
    by: Option<f64>,
}

impl Judge for PlateausAtKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self {
            tolerance: keys.value(&TOLERANCE)?,
            levels: keys.value(&LEVELS)?,
            height: keys.optional(&HEIGHT)?,
            height_of: keys.optional(&HEIGHT_OF)?,
            by: keys.optional(&FROM)?,
        })
    }

    fn find(&self, claim: &Claim, cells: &Cells<'_>) -> Found {
        let metric = claim.metric();
        let lines = match alone(claim, cells, metric) {
            Ok(lines) => lines,
            Err(found) => return *found,
        };
        let unit = metric.unit(lines.iter().find_map(|line| line.example)).to_owned();
        let heights = self.height_of.as_ref().map(|height| heights(claim, cells, height));
        let part = |line: &Line<'_>| {
            let height = match &heights {
                Some(heights) => heights
                    .iter()
                    .find(|(levels, _)| *levels == line.levels)
                    .map(|(_, height)| *height),
                None => self.height,
            };
            if heights.is_some() && height.is_none() {
                return Part::untestable(Place::line(&line.name), "its height was not measured");
            }
            self.part(claim, (line, lines.len()), height, &unit)
        };
        Found::of(lines.iter().map(part).collect(), claim.need())
    }
}

/// Returns the height of each line.
fn heights(claim: &Claim, cells: &Cells<'_>, metric: &Metric) -> Vec<(crate::Levels, f64)> {
    let lines = alone(claim, cells, metric).unwrap_or_default();
    let median = |line: Line<'_>| {
        let values: Vec<f64> = line.points.iter().flat_map(Point::all).collect();
        Some((line.levels, ipcperf_stats::median(&values)?))
    };
    lines.into_iter().filter_map(median).collect()
}

impl PlateausAtKeys {
    /// Judges one line of `lines`.
    fn part(
        &self,
        claim: &Claim,
        (line, lines): (&Line<'_>, usize),
        height: Option<f64>,
        unit: &str,
    ) -> Part {
        let (count, least) = (line.points.len(), self.levels);
        if count < least {
            let reason = format!("{count} levels were measured, and {least} must be flat");
            return Part::untestable(Place::line(&line.name), reason);
        }
        let flat = Flat { points: &line.points, height, tolerance: self.tolerance, least };
        let first = self.claimed(&line.points);
        let levels = levels(claim, &flat, first, lines);
        let farthest =
            |level: &&Part| level.estimates.first().map_or(0.0, |one| one.value.ln().abs());
        let widest = levels.iter().max_by(|one, other| farthest(one).total_cmp(&farthest(other)));
        let mut part = Part::new(Place::line(&line.name), widest.map_or(0, |level| level.n));
        part.unit = unit.to_owned();
        part.estimates = seen(&flat, first, [unit, claim.over_unit()]);
        part.estimates.extend(
            widest
                .and_then(|level| Some(level.estimates.first()?.clone().farthest_at(&level.what))),
        );
        part.series = levels.iter().flat_map(|level| level.series.clone()).collect();
        part.verdict = Found::of(levels, 1.0).verdict;
        part
    }

    /// Returns the index of the level from which the line is claimed to be flat.
    fn claimed(&self, points: &[Point]) -> usize {
        let last = points.len().saturating_sub(self.levels);
        self.by.map_or(last, |by| points.partition_point(|point| point.x < by).min(last))
    }
}

/// Judges how far each level from index `first` on deviates from the height, for one of `lines` lines.
fn levels(claim: &Claim, flat: &Flat<'_>, first: usize, lines: usize) -> Vec<Part> {
    let bounds = Bounds { above: Some(1.0 - flat.tolerance), below: Some(1.0 + flat.tolerance) };
    let points = &flat.points[first..];
    let sure = Sure::within(claim, (lines, points.len()), claim.level());
    let blocks = flat.blocks(first);
    let level = |(point, off): (&Point, Vec<f64>)| {
        if off.is_empty() {
            return Part::untestable(
                Place::level(point),
                "no block has all of the flat part, above 0",
            );
        }
        let mut part = Part::new(Place::level(point), off.len());
        let (verdict, estimate) =
            bounds.judge(|at| median_of(EstimateKind::Off, &off, at), sure, off.len());
        part.verdict = verdict;
        part.estimates.extend(estimate);
        part.series = vec![off];
        part
    };
    points.iter().zip(flat.off(first, &blocks)).map(level).collect()
}

/// Returns the estimated plateau: its height and its beginning.
fn seen(flat: &Flat<'_>, claimed: usize, [unit, over_unit]: [&str; 2]) -> Vec<Estimate> {
    let bootstrap = Bootstrap::default();
    let Some(first) = flat.begins(claimed, &flat.all_blocks()) else { return Vec::new() };
    let heights = flat.heights(first);
    let Some(height) = median_of(EstimateKind::Height, &heights, bootstrap.level) else {
        return Vec::new();
    };
    let ends: Option<Interval> = flat.beginnings(claimed, &bootstrap);
    let (low, high) = ends.map(|ends| (ends.low, ends.high)).unzip();
    let from = Estimate::new(EstimateKind::From, flat.points[first].x, bootstrap.level)
        .between(low, high)
        .in_unit(over_unit);
    vec![height.in_unit(unit), from]
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::made;

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
