//! plateaus-at: a line of cases is flat from some level on.

use ipcperf_stats::{Bootstrap, Interval};

use super::evidence::{EstimateKind, PartScope};
use super::figure_layout::{BetterNote, Caption, FigureLayout, PanelGrouping};
use super::interval::{Alphas, Bounds, median_estimate};
use super::key_values::{KeyError, KeyValues};
use super::operands::claim_lines;
use super::plateau::PlateauSearch;
use super::{Cells, Claim, Estimate, Findings, Judge, Line, Part, Point, Test, parse_keys};
use crate::{Key, Metric, Requirement, ValueType};

pub(super) const TEST: Test = Test {
    name: "plateaus-at",
    about: "each line is flat from some level on, optionally at a given height",
    estimate: "The claimed plateau consists of the largest levels: all levels from `starts_by` on, and at least \
               `levels` of them. The claimed height is set by `height` or `height_of`. If no height is claimed, the \
               height in a block is the geometric mean over the levels of the plateau. Only blocks that have all of \
               these levels are used. In each block, the value at each level is divided by the height. At each level, \
               the median of this ratio over blocks has an interval by order statistics. The verdict also shows an \
               estimated plateau, which ends at the largest level and is computed from the medians alone. Levels are \
               flat if all their medians lie within `tolerance` of the height. If the claimed plateau is flat, the \
               estimated plateau consists of the claimed plateau and of lower levels. These are added one by one, from \
               the next lower level on, as long as the whole plateau stays flat. If the claimed plateau is not flat, \
               the estimated plateau starts at the lowest level above the claimed start from which on all levels are \
               flat. The interval of the start of the estimated plateau comes from resamples of whole blocks.",
    supported_if: "the 1 - alpha interval lies between 1 - `tolerance` and 1 + `tolerance` at every level of the \
                   claimed plateau. If `min_fraction` is below 1, the 1 - alpha/m interval is used.",
    rejected_if: "the 1 - alpha/(m q) interval lies entirely below 1 - `tolerance` or entirely above 1 + \
                  `tolerance` at one or more levels of the claimed plateau. q is the number of levels of the \
                  claimed plateau.",
    assumptions: "Blocks are independent. A line that is flat everywhere has a plateau that starts \
                  at the first level.",
    source: "Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15; Berger 1982, Technometrics 24; \
             David and Nagaraja 2003, Order Statistics, section 7.1; Efron 1979, Annals of Statistics 7",
    keys: &[TOLERANCE, LEVELS, HEIGHT, HEIGHT_OF, STARTS_BY],
    figure_layout: FigureLayout {
        panels: PanelGrouping::All,
        caption: Caption::Always(
            "Dashed: the height of the plateau with its 95 % interval, and the level at which it starts.",
        ),
        better: BetterNote::Hidden,
    },
    parse: parse_keys::<PlateausAtKeys>,
};

const TOLERANCE: Key = Key {
    name: "tolerance",
    value_type: ValueType::Number(0.000_1, 1.0),
    requirement: Requirement::Optional("0.1"),
    about: "largest relative deviation of a level from the height of the plateau: 0.1 is 10 %",
    example: "0.1",
};

const LEVELS: Key = Key {
    name: "levels",
    value_type: ValueType::Integer(2, 1_000),
    requirement: Requirement::Optional("3"),
    about: "minimum number of levels of the plateau; the plateau always includes the largest level",
    example: "3",
};

const HEIGHT: Key = Key {
    name: "height",
    value_type: ValueType::Number(0.0, f64::MAX),
    requirement: Requirement::Optional("none"),
    about: "claimed height of the plateau, in the unit of the metric; without it, any height counts",
    example: "65536",
};

const HEIGHT_OF: Key = Key {
    name: "height_of",
    value_type: ValueType::Metric,
    requirement: Requirement::Optional("none"),
    about: "instead of `height`: metric whose median over all runs of the line is the claimed height",
    example: "\"kernel_buffer\"",
};

const STARTS_BY: Key = Key {
    name: "starts_by",
    value_type: ValueType::Bytes,
    requirement: Requirement::Optional("anywhere"),
    about: "largest level at which the plateau may start",
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
    starts_by: Option<f64>,
}

impl Judge for PlateausAtKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self {
            tolerance: keys.value(&TOLERANCE)?,
            levels: keys.value(&LEVELS)?,
            height: keys.optional(&HEIGHT)?,
            height_of: keys.optional(&HEIGHT_OF)?,
            starts_by: keys.optional(&STARTS_BY)?,
        })
    }

    fn evaluate(&self, claim: &Claim, cells: &Cells<'_>) -> Findings {
        let metric = claim.metric();
        let lines = match claim_lines(claim, cells, metric) {
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
                return Part::untestable(
                    PartScope::from_line(&line.name),
                    "the claimed height (`height_of`) was not measured",
                );
            }
            self.judge_line(claim, (line, lines.len()), height, &unit)
        };
        Findings::from_parts(lines.iter().map(part).collect(), claim.min_fraction())
    }
}

/// Returns the height of each line.
fn heights(claim: &Claim, cells: &Cells<'_>, metric: &Metric) -> Vec<(crate::Levels, f64)> {
    let lines = claim_lines(claim, cells, metric).unwrap_or_default();
    let median = |line: Line<'_>| {
        let values: Vec<f64> = line.points.iter().flat_map(Point::all_values).collect();
        Some((line.levels, ipcperf_stats::median(&values)?))
    };
    lines.into_iter().filter_map(median).collect()
}

impl PlateausAtKeys {
    /// Judges one line of `lines`.
    fn judge_line(
        &self,
        claim: &Claim,
        (line, lines): (&Line<'_>, usize),
        height: Option<f64>,
        unit: &str,
    ) -> Part {
        let (count, least) = (line.points.len(), self.levels);
        if count < least {
            let reason = format!("only {count} levels were measured, but {least} must be flat");
            return Part::untestable(PartScope::from_line(&line.name), reason);
        }
        let flat = PlateauSearch {
            points: &line.points,
            height,
            tolerance: self.tolerance,
            min_levels: least,
        };
        let first = self.claimed_start(&line.points);
        let levels = judge_levels(claim, &flat, first, lines);
        let farthest =
            |level: &&Part| level.estimates.first().map_or(0.0, |one| one.value.ln().abs());
        let widest = levels.iter().max_by(|one, other| farthest(one).total_cmp(&farthest(other)));
        let mut part =
            Part::new(PartScope::from_line(&line.name), widest.map_or(0, |level| level.n));
        part.unit = unit.to_owned();
        part.estimates = plateau_estimates(&flat, first, [unit, claim.over_unit()]);
        part.estimates.extend(
            widest
                .and_then(|level| Some(level.estimates.first()?.clone().farthest_at(&level.what))),
        );
        part.series = levels.iter().flat_map(|level| level.series.clone()).collect();
        part.verdict = Findings::from_parts(levels, 1.0).verdict;
        part
    }

    /// Returns the index of the level from which the line is claimed to be flat.
    fn claimed_start(&self, points: &[Point]) -> usize {
        let last = points.len().saturating_sub(self.levels);
        self.starts_by
            .map_or(last, |start| points.partition_point(|point| point.x < start).min(last))
    }
}

/// Judges how far each level from index `first` on deviates from the height, for one of `lines` lines.
fn judge_levels(claim: &Claim, flat: &PlateauSearch<'_>, first: usize, lines: usize) -> Vec<Part> {
    let bounds = Bounds { above: Some(1.0 - flat.tolerance), below: Some(1.0 + flat.tolerance) };
    let points = &flat.points[first..];
    let alphas = Alphas::with_levels(claim, (lines, points.len()), claim.alpha());
    let blocks = flat.blocks_from(first);
    let level = |(point, off): (&Point, Vec<f64>)| {
        if off.is_empty() {
            return Part::untestable(
                PartScope::from_point(point),
                "no block has positive values at all levels of the claimed plateau",
            );
        }
        let mut part = Part::new(PartScope::from_point(point), off.len());
        let (verdict, estimate) =
            bounds.judge(|at| median_estimate(EstimateKind::Off, &off, at), alphas, off.len());
        part.verdict = verdict;
        part.estimates.extend(estimate);
        part.series = vec![off];
        part
    };
    points.iter().zip(flat.relative_to_height(first, &blocks)).map(level).collect()
}

/// Returns the estimated plateau: its height and its beginning.
fn plateau_estimates(
    flat: &PlateauSearch<'_>,
    claimed: usize,
    [unit, over_unit]: [&str; 2],
) -> Vec<Estimate> {
    let bootstrap = Bootstrap::default();
    let Some(first) = flat.start_index(claimed, &flat.all_blocks()) else { return Vec::new() };
    let heights = flat.heights(first);
    let Some(height) = median_estimate(EstimateKind::Height, &heights, bootstrap.level) else {
        return Vec::new();
    };
    let ends: Option<Interval> = flat.start_interval(claimed, &bootstrap);
    let (low, high) = ends.map(|ends| (ends.low, ends.high)).unzip();
    let from = Estimate::new(EstimateKind::From, flat.points[first].x, bootstrap.level)
        .with_interval(low, high)
        .with_unit(over_unit);
    vec![height.with_unit(unit), from]
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::synthetic;

    const KEYS: &str = "test = \"plateaus-at\"\nwhere = { mechanism = \"pipe\" }\n";

    #[test]
    fn a_flat_end_is_supported_and_a_rising_one_rejected() {
        let verdict = |values: &[f64; 6], keys: &str| {
            synthetic(10, 0.02, &[("pipe", values)]).verdict_name(&format!("{KEYS}{keys}"))
        };
        assert_eq!(verdict(&[1.0, 2.0, 4.0, 4.0, 4.0, 4.0], ""), "supported");
        assert_eq!(verdict(&[1.0, 1.3, 1.6, 2.0, 2.6, 3.2], ""), "rejected");
        assert_eq!(verdict(&[4.0, 4.0, 4.0, 4.0, 4.0, 6.0], ""), "rejected");
        assert_eq!(verdict(&[1.0, 2.0, 4.0, 4.0, 4.0, 4.0], "starts_by = \"2KiB\"\n"), "supported");
        assert_eq!(verdict(&[1.0, 2.0, 4.0, 4.0, 4.0, 4.0], "starts_by = \"1KiB\"\n"), "rejected");
    }

    #[test]
    fn a_height_that_is_given_must_be_that_of_the_plateau() {
        let flat = synthetic(10, 0.02, &[("pipe", &[1.0, 4.0, 4.0, 4.0])]);
        let at = |height: &str| flat.verdict_name(&format!("{KEYS}height = {height}\n"));
        assert_eq!((at("4e9"), at("5e9")), ("supported", "rejected"));
    }

    #[test]
    fn one_level_off_the_tolerance_by_chance_is_open() {
        let noisy = synthetic(10, 0.3, &[("pipe", &[4.0, 4.0, 4.0])]);
        assert_eq!(noisy.verdict_name(KEYS), "inconclusive");
        assert!(noisy.needed_repetitions(KEYS).is_some_and(|needed| needed > 10));
    }

    #[test]
    fn too_few_levels_are_no_plateau_and_too_few_blocks_show_none() {
        assert_eq!(
            synthetic(10, 0.02, &[("pipe", &[4.0, 4.0])]).verdict_name(KEYS),
            "not testable here"
        );
        assert_eq!(synthetic(5, 0.0, &[("pipe", &[4.0; 4])]).verdict_name(KEYS), "inconclusive");
        assert_eq!(synthetic(6, 0.0, &[("pipe", &[4.0; 4])]).verdict_name(KEYS), "supported");
    }
}
