//! Steepest slope of a curve, and its strongest bend, from level to level.

use super::{Curve, CurveStatisticError, enough_levels, line::CurvePoint, peak::levels_between};
use crate::{
    bootstrap::{Bootstrap, Interval},
    curve::error::check_finite,
};

/// Points at which a curve, on logarithmic scales, changes most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inflection {
    /// Steepest slope.
    pub steepest: LocatedSlope,
    /// Level at which the slopes on the two sides differ most, and the difference: negative if the curve flattens.
    /// `None` for two levels.
    pub bend: Option<LocatedSlope>,
}

/// A slope, or a change of slope, and its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocatedSlope {
    /// Level; for a slope, the geometric mean of the two levels it lies between.
    pub level: f64,
    /// Slope of log y against log level, or change of slope. Dimensionless.
    pub slope: f64,
    /// Interval of its position over resamples of the blocks; both ends are such positions. `None` for fewer than two
    /// blocks.
    pub interval: Option<Interval>,
}

impl Curve {
    /// Finds where the slope between neighboring levels, of the median log y against log level, is greatest in absolute
    /// value, and where it changes most from one pair of levels to the next. Of several equal positions it takes the
    /// lowest. The intervals are percentile intervals over resamples of the blocks, by quantiles of type 1.
    ///
    /// # Errors
    ///
    /// Returns an error for fewer than two levels with values, and if a value is not above 0.
    pub fn inflection(&self, bootstrap: &Bootstrap) -> Result<Inflection, CurveStatisticError> {
        let logs = self.logs()?;
        let points = logs.points(&logs.medians());
        enough_levels(points.len(), 2)?;
        let found = |find: fn(&[CurvePoint]) -> Option<(f64, f64)>| {
            let (x, slope) = find(&points)?;
            let places =
                logs.resampled(bootstrap, |medians| Some(find(&logs.points(medians))?.0.exp()));
            let interval = places.and_then(|places| {
                let mut places: Vec<f64> = places.into_iter().flatten().collect();
                places.sort_by(f64::total_cmp);
                levels_between(&places, bootstrap)
            });
            Some(LocatedSlope { level: x.exp(), slope, interval })
        };
        let steepest = found(steepest).ok_or(CurveStatisticError::NotFinite)?;
        check_finite(steepest.slope)?;
        Ok(Inflection { steepest, bend: found(bend) })
    }
}

fn steepest(points: &[CurvePoint]) -> Option<(f64, f64)> {
    greatest(slopes(points).into_iter())
}

fn bend(points: &[CurvePoint]) -> Option<(f64, f64)> {
    let slopes = slopes(points);
    let inner = points.iter().skip(1).map(|point| point.x);
    greatest(inner.zip(slopes.windows(2)).map(|(x, pair)| (x, pair[1].1 - pair[0].1)))
}

/// Slopes between neighbors, each at the midpoint of the two.
fn slopes(points: &[CurvePoint]) -> Vec<(f64, f64)> {
    let slope = |pair: &[CurvePoint]| (pair[1].y - pair[0].y) / (pair[1].x - pair[0].x);
    points.windows(2).map(|pair| (f64::midpoint(pair[0].x, pair[1].x), slope(pair))).collect()
}

/// First of the entries that are greatest in absolute value.
fn greatest(found: impl Iterator<Item = (f64, f64)>) -> Option<(f64, f64)> {
    found.reduce(|best, next| if next.1.abs() > best.1.abs() { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: &[f64]) -> Curve {
        let levels = (0..).take(values.len()).map(|k| 2_f64.powi(k)).collect();
        let block: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
        Curve::new(levels, vec![block; 3]).unwrap()
    }

    #[test]
    fn the_steepest_step_and_the_sharpest_bend_are_found() {
        let found = curve(&[1.0, 2.0, 8.0, 8.0, 8.0]).inflection(&Bootstrap::default()).unwrap();
        assert!((found.steepest.level - 8_f64.sqrt()).abs() < 1e-12);
        assert!((found.steepest.slope - 2.0).abs() < 1e-12);
        let bend = found.bend.unwrap();
        assert!((bend.level - 4.0).abs() < 1e-12 && (bend.slope + 2.0).abs() < 1e-12);
        let interval = bend.interval.unwrap();
        assert!((interval.low - 4.0).abs() < 1e-12 && interval.low == interval.high);
    }

    #[test]
    fn two_levels_do_not_bend_and_one_has_no_slope() {
        let two = curve(&[1.0, 2.0]).inflection(&Bootstrap::default()).unwrap();
        assert!((two.steepest.slope - 1.0).abs() < 1e-12 && two.bend.is_none());
        let one = curve(&[1.0]).inflection(&Bootstrap::default());
        assert_eq!(one, Err(CurveStatisticError::TooFewLevels { found: 1, needed: 2 }));
    }
}
