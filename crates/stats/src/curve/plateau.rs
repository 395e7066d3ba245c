//! Plateau of a curve: whether it is flat from some level on.

use super::{
    Curve, CurveStatisticError, LevelValue, enough_levels, error::check_finite,
    peak::levels_between,
};
use crate::{
    bootstrap::{Bootstrap, Interval},
    spread::median,
};

/// Minimum number of levels of a plateau; a single level is always flat.
const MIN_LEVELS: usize = 2;

/// Flat end of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Plateau {
    /// Level from which on all medians lie within the tolerance of the height.
    pub from: f64,
    /// Number of levels with values, including the first; two or more.
    pub levels: usize,
    /// Height in the unit of the values: the median over blocks of each block's median over the plateau's levels.
    pub height: f64,
    /// Interval of the height, by order statistics ([`Bootstrap::median`]), given the start of the plateau. `None` if
    /// there are too few blocks: at 95 %, fewer than six.
    pub interval: Option<Interval>,
    /// Interval of the plateau's start over those resamples of the blocks that have one; both ends are levels. `None`
    /// for fewer than two blocks.
    pub from_interval: Option<Interval>,
    /// Share of resamples that have a plateau, from 0 to 1. `None` as for the interval before.
    pub share: Option<f64>,
    /// Relative deviation of each median before the plateau from the reference height: -0.5 is half of it.
    pub before: Vec<LevelValue>,
    /// Greatest relative deviation of a median of the plateau from that height.
    pub max_deviation: f64,
}

impl Curve {
    /// Finds the longest flat end: the lowest level from which on all medians lie within the relative `tolerance` of
    /// their own median. Returns `Ok(None)` if not even the last two do.
    ///
    /// # Errors
    ///
    /// Returns an error for fewer than two levels with values, a median that is not above 0, a `tolerance` that is not
    /// above 0 and finite, and if a deviation from the height does not fit into a double.
    pub fn plateau(
        &self,
        tolerance: f64,
        bootstrap: &Bootstrap,
    ) -> Result<Option<Plateau>, CurveStatisticError> {
        self.find_plateau(Target::OwnMedian, tolerance, bootstrap)
    }

    /// Finds the lowest level from which on all medians lie within the relative `tolerance` of `height`, which is known
    /// beforehand. Returns `Ok(None)` if not even the last two do.
    ///
    /// # Errors
    ///
    /// As for [`Curve::plateau`], and for a `height` that is not above 0 and finite.
    pub fn plateau_at(
        &self,
        height: f64,
        tolerance: f64,
        bootstrap: &Bootstrap,
    ) -> Result<Option<Plateau>, CurveStatisticError> {
        check_positive(height)?;
        self.find_plateau(Target::Given(height), tolerance, bootstrap)
    }

    fn find_plateau(
        &self,
        target: Target,
        tolerance: f64,
        bootstrap: &Bootstrap,
    ) -> Result<Option<Plateau>, CurveStatisticError> {
        check_positive(tolerance)?;
        let known = self.level_values(&self.medians());
        enough_levels(known.len(), MIN_LEVELS)?;
        if let Some(&LevelValue { level, .. }) = known.iter().find(|median| median.value <= 0.0) {
            return Err(CurveStatisticError::NotPositive { level });
        }
        let Some(flat) = FlatEnd::find(&known, target, tolerance) else { return Ok(None) };
        let from = known[flat.first].level;
        let heights = self.heights(from);
        let starts = self.resampled(bootstrap, |medians| self.start(medians, target, tolerance));
        let away = |median: &LevelValue| check_finite(median.value / flat.target - 1.0);
        let before =
            |median: &LevelValue| Ok(LevelValue { level: median.level, value: away(median)? });
        let plateau: Result<Vec<f64>, CurveStatisticError> =
            known[flat.first..].iter().map(away).collect();
        Ok(Some(Plateau {
            from,
            levels: known.len() - flat.first,
            height: median(&heights).ok_or(CurveStatisticError::NotFinite)?,
            interval: bootstrap.median(&heights),
            from_interval: starts.as_deref().and_then(|starts| start_interval(starts, bootstrap)),
            share: starts.as_deref().map(share),
            before: known[..flat.first].iter().map(before).collect::<Result<_, _>>()?,
            max_deviation: plateau?.iter().map(|away| away.abs()).fold(0.0, f64::max),
        }))
    }

    fn level_values(&self, medians: &[Option<f64>]) -> Vec<LevelValue> {
        let both = self.levels.iter().zip(medians);
        both.filter_map(|(&level, median)| Some(LevelValue { level, value: (*median)? })).collect()
    }

    fn start(&self, medians: &[Option<f64>], target: Target, tolerance: f64) -> Option<f64> {
        let known = self.level_values(medians);
        Some(known[FlatEnd::find(&known, target, tolerance)?.first].level)
    }

    /// Median over the levels starting at `from`, for every block that has one of them.
    fn heights(&self, from: f64) -> Vec<f64> {
        let first = self.levels.partition_point(|level| *level < from);
        let flat =
            self.blocks.iter().map(|block| block[first..].iter().flatten().copied().collect());
        flat.filter_map(|values: Vec<f64>| median(&values)).collect()
    }
}

/// Reference height of a plateau's medians.
#[derive(Clone, Copy)]
enum Target {
    /// Median of the same medians.
    OwnMedian,
    /// A height known beforehand.
    Given(f64),
}

struct FlatEnd {
    first: usize,
    target: f64,
}

impl FlatEnd {
    fn find(known: &[LevelValue], target: Target, tolerance: f64) -> Option<Self> {
        let last = known.len().checked_sub(MIN_LEVELS)?;
        (0..=last).find_map(|first| {
            let values: Vec<f64> = known[first..].iter().map(|median| median.value).collect();
            let target = match target {
                Target::OwnMedian => median(&values)?,
                Target::Given(height) => height,
            };
            let near = |value: &f64| (value - target).abs() <= tolerance * target;
            values.iter().all(near).then_some(Self { first, target })
        })
    }
}

fn check_positive(value: f64) -> Result<(), CurveStatisticError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(CurveStatisticError::Parameter { value })
    }
}

fn start_interval(starts: &[Option<f64>], bootstrap: &Bootstrap) -> Option<Interval> {
    let mut levels: Vec<f64> = starts.iter().flatten().copied().collect();
    levels.sort_by(f64::total_cmp);
    levels_between(&levels, bootstrap)
}

#[allow(clippy::cast_precision_loss, reason = "numbers of resamples")]
fn share(starts: &[Option<f64>]) -> f64 {
    starts.iter().flatten().count() as f64 / starts.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: [f64; 5]) -> Curve {
        let block = |k: i32| values.map(|v| Some(v * (1.0 + 0.001 * f64::from(k)))).to_vec();
        Curve::new(vec![1.0, 2.0, 4.0, 8.0, 16.0], (-3..=3).map(block).collect()).unwrap()
    }

    #[test]
    fn a_plateau_begins_where_all_the_rest_is_flat() {
        let curve = curve([10.0, 50.0, 99.0, 100.0, 101.0]);
        let plateau = curve.plateau(0.05, &Bootstrap::default()).unwrap().unwrap();
        assert_eq!((plateau.from, plateau.levels, plateau.height), (4.0, 3, 100.0));
        assert_eq!(plateau.from_interval, Some(Interval { low: 4.0, high: 4.0 }));
        assert_eq!((plateau.before.len(), plateau.share), (2, Some(1.0)));
        assert!((plateau.before[1].value + 0.5).abs() < 1e-12);
        assert!((plateau.max_deviation - 0.01).abs() < 1e-12);
        let interval = plateau.interval.unwrap();
        assert!(interval.low > 99.0 && interval.low < 100.0 && interval.high < 101.0);
    }

    #[test]
    fn a_curve_that_goes_on_rising_has_none() {
        let rising = curve([1.0, 2.0, 4.0, 8.0, 16.0]);
        assert_eq!(rising.plateau(0.1, &Bootstrap::default()), Ok(None));
        let back = curve([100.0, 100.0, 100.0, 100.0, 50.0]);
        assert_eq!(back.plateau(0.1, &Bootstrap::default()), Ok(None));
    }

    #[test]
    fn flat_at_another_height_is_not_flat_there() {
        let curve = curve([10.0, 50.0, 99.0, 100.0, 101.0]);
        let at = |height| curve.plateau_at(height, 0.05, &Bootstrap::default());
        assert_eq!(at(100.0).unwrap().unwrap().from, 4.0);
        assert_eq!(at(104.0).unwrap().unwrap().from, 4.0);
        assert_eq!(at(120.0), Ok(None));
        assert_eq!(at(-1.0), Err(CurveStatisticError::Parameter { value: -1.0 }));
    }

    #[test]
    fn zero_and_one_level_have_no_answer() {
        let bootstrap = Bootstrap::default();
        let zero = curve([0.0, 1.0, 1.0, 1.0, 1.0]).plateau(0.1, &bootstrap);
        assert_eq!(zero, Err(CurveStatisticError::NotPositive { level: 1.0 }));
        let one = Curve::new(vec![1.0], vec![vec![Some(1.0)]]).unwrap();
        assert!(matches!(
            one.plateau(0.1, &bootstrap),
            Err(CurveStatisticError::TooFewLevels { .. })
        ));
        assert!(matches!(
            one.plateau(f64::NAN, &bootstrap),
            Err(CurveStatisticError::Parameter { .. })
        ));
    }
}
