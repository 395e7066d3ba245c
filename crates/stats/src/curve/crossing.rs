//! Crossing of two curves: the level at which their ratio passes 1.
//!
//! Logarithms of the ratios are taken within blocks, and their medians over blocks. Between two levels the median is
//! assumed to change in proportion to the logarithm of the level.

use super::{Curve, CurveStatisticError, LevelValue, enough_levels, line::CurvePoint, paired};
use crate::{
    bootstrap::Bootstrap,
    description::log_ratio,
    quantile::{QuantileType, quantile_of_type},
};

/// Ratio of two curves relative to 1 over the levels.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// Median over blocks of first over second, at every level that has a pair.
    pub ratios: Vec<LevelValue>,
    /// Course of those ratios.
    pub course: Course,
    /// Share of resamples of the blocks in which the ratio passes 1 anywhere, from 0 to 1. `None` for fewer than two
    /// blocks.
    pub share: Option<f64>,
}

/// Course of a ratio over ascending levels.
#[derive(Clone, Debug, PartialEq)]
pub enum Course {
    /// Above 1 at some level, and nowhere below.
    AlwaysAbove,
    /// Below 1 at some level, and nowhere above.
    AlwaysBelow,
    /// Equal to 1 at every level.
    AlwaysEqual,
    /// Passes 1 once.
    Once(LastingCrossing),
    /// Passes 1 several times.
    Several {
        /// All crossings, ascending.
        points: Vec<CrossingPoint>,
        /// The last crossing.
        lasting: LastingCrossing,
    },
}

/// Direction in which a ratio passes 1 as the level grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrossingDirection {
    /// From below to above: the first curve overtakes the second.
    Upward,
    /// From above to below: the second curve overtakes the first.
    Downward,
}

/// Point at which a ratio passes 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossingPoint {
    /// Interpolated level.
    pub level: f64,
    /// Direction of the crossing.
    pub direction: CrossingDirection,
}

/// The crossing after which the ratio stays on its side up to the largest level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastingCrossing {
    /// Position of the crossing.
    pub point: CrossingPoint,
    /// Number of levels with values beyond it. If it is 1, there is little evidence that the ratio stays on its side.
    pub levels_after: usize,
    /// Interval over resamples of the blocks. `None` for fewer than two blocks.
    pub interval: Option<OpenInterval>,
}

/// A range of levels that may be unbounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenInterval {
    /// Lower end; `None` if it lies below the smallest level.
    pub low: Option<f64>,
    /// Upper end; `None` if it lies above the largest level.
    pub high: Option<f64>,
}

/// Finds where `first` over `second`, paired by block and level, passes 1.
///
/// The interval of the lasting crossing is the percentile interval, by quantiles of type 1, over resamples of the
/// blocks. A resample that ends on the side where the ratio began counts as crossing beyond the largest level; one that
/// is always on its last side counts as crossing below the smallest. Neither is left out.
///
/// # Errors
///
/// Returns an error if a paired value is not above 0, and for fewer than two levels with a pair.
pub fn crossing(
    first: &Curve,
    second: &Curve,
    bootstrap: &Bootstrap,
) -> Result<Crossing, CurveStatisticError> {
    let logs = log_ratios(first, second)?;
    let points = logs.points(&logs.medians());
    enough_levels(points.len(), 2)?;
    let resampled =
        logs.resampled(bootstrap, |medians| ResampledCrossing::from_points(&logs.points(medians)));
    let ratios = logs
        .levels
        .iter()
        .zip(logs.medians())
        .filter_map(|(&level, log)| Some(LevelValue { level, value: log?.exp() }));
    Ok(Crossing {
        ratios: ratios.collect(),
        course: course(&points, resampled.as_deref(), bootstrap),
        share: resampled.as_deref().map(share),
    })
}

/// Logarithms of first over second by block and level.
pub(super) fn log_ratios(first: &Curve, second: &Curve) -> Result<Curve, CurveStatisticError> {
    let (first, second) = paired(first, second)?;
    // Checks every value.
    first.logs()?;
    second.logs()?;
    let over = |(one, other): (&Option<f64>, &Option<f64>)| Some(log_ratio((*one)?, (*other)?));
    let by_block = first.blocks.iter().zip(&second.blocks);
    let blocks = by_block.map(|(ours, theirs)| ours.iter().zip(theirs).map(over).collect());
    Ok(Curve { blocks: blocks.collect(), levels: second.levels })
}

fn course(
    points: &[CurvePoint],
    resampled: Option<&[ResampledCrossing]>,
    bootstrap: &Bootstrap,
) -> Course {
    let crossings = crossing_points(points);
    let Some(&last) = crossings.last() else {
        return match points.iter().find(|point| point.y != 0.0) {
            None => Course::AlwaysEqual,
            Some(point) if point.y > 0.0 => Course::AlwaysAbove,
            Some(_) => Course::AlwaysBelow,
        };
    };
    let lasting = LastingCrossing {
        point: last,
        levels_after: points.iter().filter(|point| point.x.exp() > last.level).count(),
        interval: resampled.and_then(|seen| interval(seen, last.direction, bootstrap)),
    };
    match crossings.len() {
        1 => Course::Once(lasting),
        _ => Course::Several { points: crossings, lasting },
    }
}

/// All points at which the sign changes. If the ratio is 1 at several levels in between, the middle of those.
fn crossing_points(points: &[CurvePoint]) -> Vec<CrossingPoint> {
    let off: Vec<usize> = (0..points.len()).filter(|&i| points[i].y != 0.0).collect();
    off.windows(2)
        .filter(|pair| (points[pair[0]].y > 0.0) != (points[pair[1]].y > 0.0))
        .map(|pair| {
            let (before, after) = (points[pair[0]], points[pair[1]]);
            let x = match &points[pair[0] + 1..pair[1]] {
                [] => before.x + (after.x - before.x) * before.y / (before.y - after.y),
                [first, .., last] => f64::midpoint(first.x, last.x),
                [only] => only.x,
            };
            let direction =
                if after.y > 0.0 { CrossingDirection::Upward } else { CrossingDirection::Downward };
            CrossingPoint { level: x.exp(), direction }
        })
        .collect()
}

/// Crossing of one resample.
struct ResampledCrossing {
    last: Option<CrossingPoint>,
    /// Whether the logarithm of the ratio is positive at the last level where it is not 0.
    ends_above: bool,
}

impl ResampledCrossing {
    fn from_points(points: &[CurvePoint]) -> Self {
        let ends_above = points.iter().rfind(|point| point.y != 0.0).is_some_and(|p| p.y > 0.0);
        Self { last: crossing_points(points).last().copied(), ends_above }
    }

    /// Level of the lasting crossing in the direction `direction`; infinite if it lies beyond the levels.
    fn level_of(&self, direction: CrossingDirection) -> f64 {
        if self.ends_above != (direction == CrossingDirection::Upward) {
            return f64::INFINITY;
        }
        self.last.map_or(f64::NEG_INFINITY, |place| place.level)
    }
}

fn interval(
    resamples: &[ResampledCrossing],
    direction: CrossingDirection,
    bootstrap: &Bootstrap,
) -> Option<OpenInterval> {
    let mut levels: Vec<f64> = resamples.iter().map(|seen| seen.level_of(direction)).collect();
    levels.sort_by(f64::total_cmp);
    let tail = bootstrap.tail_probability();
    // Type 1, since interpolation between an infinite and a finite position is undefined.
    let at = |p| quantile_of_type(&levels, p, QuantileType::InvertedCdf);
    let inside = |level: f64| level.is_finite().then_some(level);
    Some(OpenInterval { low: inside(at(tail)?), high: inside(at(1.0 - tail)?) })
}

#[allow(clippy::cast_precision_loss, reason = "numbers of resamples")]
fn share(resamples: &[ResampledCrossing]) -> f64 {
    resamples.iter().filter(|seen| seen.last.is_some()).count() as f64 / resamples.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(levels: &[f64], blocks: &[&[f64]]) -> Curve {
        let blocks = blocks.iter().map(|block| block.iter().copied().map(Some).collect()).collect();
        Curve::new(levels.to_vec(), blocks).unwrap()
    }

    fn against_one(ratios: &[f64]) -> Crossing {
        let levels: Vec<f64> = (0..).take(ratios.len()).map(|k| 4_f64.powi(k)).collect();
        let ones = vec![1.0; ratios.len()];
        let first = curve(&levels, &[ratios, ratios]);
        crossing(&first, &curve(&levels, &[&ones, &ones]), &Bootstrap::default()).unwrap()
    }

    #[test]
    fn one_crossing_is_interpolated_in_logarithms() {
        let found = against_one(&[0.25, 0.5, 2.0, 3.0]);
        let Course::Once(lasting) = found.course else { panic!("{found:?}") };
        assert!(
            (lasting.point.level - 8.0).abs() < 1e-12
                && lasting.point.direction == CrossingDirection::Upward
        );
        assert_eq!((lasting.levels_after, found.share), (2, Some(1.0)));
        let interval = lasting.interval.unwrap();
        assert!((interval.low.unwrap() - 8.0).abs() < 1e-12 && interval.low == interval.high);
    }

    #[test]
    fn what_never_crosses_says_on_which_side_it_is() {
        assert_eq!(against_one(&[1.0, 1.5, 2.0]).course, Course::AlwaysAbove);
        assert_eq!(against_one(&[0.5, 0.9, 1.0]).course, Course::AlwaysBelow);
        assert_eq!(against_one(&[1.0, 1.0]).course, Course::AlwaysEqual);
        assert_eq!(against_one(&[0.5, 0.9]).share, Some(0.0));
    }

    #[test]
    fn of_several_the_last_one_lasts() {
        let found = against_one(&[0.5, 2.0, 1.0, 0.5, 0.7]);
        let Course::Several { points: places, lasting } = found.course else { panic!("{found:?}") };
        assert_eq!(places.len(), 2);
        assert_eq!(
            (places[0].direction, places[1].direction),
            (CrossingDirection::Upward, CrossingDirection::Downward)
        );
        assert!((places[1].level - 16.0).abs() < 1e-9 && lasting.point == places[1]);
        assert_eq!(lasting.levels_after, 2);
    }

    #[test]
    fn a_crossing_in_doubt_has_an_open_interval() {
        let levels = [1.0, 2.0];
        let first = curve(&levels, &[&[0.5, 1.4], &[0.5, 0.8], &[0.5, 1.3]]);
        let second = curve(&levels, &[&[1.0, 1.0], &[1.0, 1.0], &[1.0, 1.0]]);
        let found = crossing(&first, &second, &Bootstrap::default()).unwrap();
        let Course::Once(lasting) = &found.course else { panic!("{found:?}") };
        let interval = lasting.interval.unwrap();
        assert!(interval.low.is_some() && interval.high.is_none(), "{found:?}");
        assert!((found.share.unwrap() - 20.0 / 27.0).abs() < 0.04, "{found:?}");
    }

    #[test]
    fn pairs_are_within_blocks() {
        let levels = [1.0, 2.0];
        let slow_machine = curve(&levels, &[&[9.0, 30.0], &[0.9, 3.0], &[90.0, 300.0]]);
        let same_blocks = curve(&levels, &[&[10.0, 20.0], &[1.0, 2.0], &[100.0, 200.0]]);
        let found = crossing(&slow_machine, &same_blocks, &Bootstrap::default()).unwrap();
        assert_eq!(found.share, Some(1.0));
        assert!((found.ratios[0].value - 0.9).abs() < 1e-12);
    }

    #[test]
    fn one_level_or_none_cannot_cross() {
        let one = curve(&[1.0], &[&[1.0]]);
        let answer = crossing(&one, &one, &Bootstrap::default());
        assert_eq!(answer, Err(CurveStatisticError::TooFewLevels { found: 1, needed: 2 }));
        let zero = curve(&[1.0, 2.0], &[&[1.0, 0.0]]);
        let answer = crossing(&zero, &zero, &Bootstrap::default());
        assert_eq!(answer, Err(CurveStatisticError::NotPositive { level: 2.0 }));
    }
}
