//! Change of a curve's slope: two straight lines on logarithmic scales that meet at a hinge.

use super::{
    Curve, CurveStatisticError, enough_levels,
    line::{CurvePoint, Line, centroid},
};
use crate::{
    bootstrap::{Bootstrap, Interval, quantile_interval},
    quantile::ascending,
};

/// Minimum number of levels. A hinge has four parameters, so one passes through any four points.
const MIN_LEVELS: usize = 5;
/// Residual sum of squares, relative to the sum of squares of the values, that counts as rounding error.
const ROUNDING: f64 = 1e-20;

/// Two straight lines, on logarithmic scales, that meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Level at which the lines meet; it may lie between two measured levels.
    pub level: f64,
    /// Slope of log y against log level below it.
    pub slope_before: f64,
    /// Slope above it.
    pub slope_after: f64,
    /// Share of a straight line's residual sum of squares that the hinge removes, from 0 to 1.
    pub explained: f64,
    /// Percentile interval of the level over resamples of the blocks. It assumes that a hinge exists. `None` for fewer
    /// than two blocks.
    pub interval: Option<Interval>,
    /// Probability that a straight line, with the noise observed between blocks, has a hinge that removes as much.
    /// `None` for fewer than two blocks.
    pub p_value: Option<f64>,
}

impl Curve {
    /// Fits a continuous two-segment line by least squares (Hudson 1966, *Fitting Segmented Curves Whose Join Points
    /// Have to Be Estimated*, JASA 61) to the medians over blocks of log y against log level. Every level has the same
    /// weight, and each segment spans two levels or more.
    ///
    /// The p-value compares the reduction in the sum of squares with that of resamples of whole blocks whose medians
    /// were first shifted onto the straight line (Davison and Hinkley 1997, *Bootstrap Methods and their Application*,
    /// section 4.4), with a new hinge fitted to each. A small p-value is evidence that the curve is not straight, not
    /// that it has a corner.
    ///
    /// # Errors
    ///
    /// Returns an error for fewer than five levels with values, if a value is not above 0, and if the medians lie on
    /// one straight line ([`CurveStatisticError::NoVariation`]).
    pub fn change_point(&self, bootstrap: &Bootstrap) -> Result<ChangePoint, CurveStatisticError> {
        let logs = self.logs()?;
        let points = logs.points(&logs.medians());
        enough_levels(points.len(), MIN_LEVELS)?;
        let line = Line::fit(&points).ok_or(CurveStatisticError::NotFinite)?;
        let scale: f64 = points.iter().map(|point| point.y.powi(2)).sum();
        if line.error <= ROUNDING * scale {
            return Err(CurveStatisticError::NoVariation);
        }
        let hinge = Hinge::fit(&points).ok_or(CurveStatisticError::NotFinite)?;
        Ok(ChangePoint {
            level: hinge.x.exp(),
            slope_before: hinge.before,
            slope_after: hinge.after,
            explained: (1.0 - hinge.error / line.error).clamp(0.0, 1.0),
            interval: logs.hinge_interval(bootstrap),
            p_value: logs.straighten(&line).hinge_p_value(bootstrap, line.error - hinge.error),
        })
    }

    /// Interval of the hinge of a curve of logarithms.
    fn hinge_interval(&self, bootstrap: &Bootstrap) -> Option<Interval> {
        let hinges =
            self.resampled(bootstrap, |medians| Some(Hinge::fit(&self.points(medians))?.x.exp()))?;
        let levels: Vec<f64> = hinges.into_iter().flatten().collect();
        let tail = bootstrap.tail_probability();
        quantile_interval(&ascending(&levels)?, tail, 1.0 - tail)
    }

    /// Curve with each level shifted so that its median lies on `line`.
    fn straighten(&self, line: &Line) -> Self {
        let off: Vec<Option<f64>> = self
            .levels
            .iter()
            .zip(self.medians())
            .map(|(level, median)| Some(median? - line.at(level.ln())))
            .collect();
        let moved = |(value, off): (&Option<f64>, &Option<f64>)| Some((*value)? - (*off)?);
        let blocks = self.blocks.iter().map(|block| block.iter().zip(&off).map(moved).collect());
        Self { levels: self.levels.clone(), blocks: blocks.collect() }
    }

    /// Share of resamples, including the observed one, in which a hinge removes `squares` or more.
    #[allow(clippy::cast_precision_loss, reason = "numbers of resamples")]
    fn hinge_p_value(&self, bootstrap: &Bootstrap, squares: f64) -> Option<f64> {
        let saves = |medians: &[Option<f64>]| {
            let points = self.points(medians);
            let line = Line::fit(&points)?;
            Some(line.error - Hinge::fit(&points)?.error)
        };
        let drawn: Vec<f64> = self.resampled(bootstrap, saves)?.into_iter().flatten().collect();
        let as_much = drawn.iter().filter(|saved| **saved >= squares).count();
        Some((1 + as_much) as f64 / (1 + drawn.len()) as f64)
    }
}

/// Two lines that meet at `x`.
#[derive(Clone, Copy, Debug)]
struct Hinge {
    x: f64,
    before: f64,
    after: f64,
    error: f64,
}

impl Hinge {
    /// Finds the hinge of least squares. It lies either at a level, or between two levels where the best lines of the
    /// levels on each side meet; so all candidates are tried.
    fn fit(points: &[CurvePoint]) -> Option<Self> {
        let inner = points.get(1..points.len().checked_sub(1)?)?;
        let at_levels = inner.iter().filter_map(|knot| Self::at(points, knot.x));
        let between = (2..points.len().saturating_sub(1)).filter_map(|k| Self::between(points, k));
        at_levels.chain(between).min_by(|a, b| a.error.total_cmp(&b.error))
    }

    /// Hinge located between the levels `k - 1` and `k`.
    fn between(points: &[CurvePoint], k: usize) -> Option<Self> {
        let (left, right) = points.split_at(k);
        let (before, after) = (Line::fit(left)?, Line::fit(right)?);
        let x = before.intersection(&after);
        let error = before.error + after.error;
        let inside = x >= left.last()?.x && x <= right.first()?.x;
        inside.then_some(Self { x, before: before.slope, after: after.slope, error })
    }

    /// Hinge located at `x`: least squares on the distances below it and above it.
    fn at(points: &[CurvePoint], x: f64) -> Option<Self> {
        let center = centroid(points)?;
        let below: Vec<CurvePoint> =
            points.iter().map(|p| CurvePoint { x: (p.x - x).min(0.0), y: p.y }).collect();
        let above: Vec<CurvePoint> =
            points.iter().map(|p| CurvePoint { x: (p.x - x).max(0.0), y: p.y }).collect();
        let (u, v) = (centroid(&below)?.x, centroid(&above)?.x);
        let each = || below.iter().zip(&above).map(|(b, a)| (b.x - u, a.x - v, b.y - center.y));
        let uu: f64 = each().map(|(u, _, _)| u * u).sum();
        let vv: f64 = each().map(|(_, v, _)| v * v).sum();
        let uv: f64 = each().map(|(u, v, _)| u * v).sum();
        let uy: f64 = each().map(|(u, _, y)| u * y).sum();
        let vy: f64 = each().map(|(_, v, y)| v * y).sum();
        let determinant = uu * vv - uv * uv;
        let before = (uy * vv - vy * uv) / determinant;
        let after = (vy * uu - uy * uv) / determinant;
        let error: f64 = each().map(|(u, v, y)| (y - before * u - after * v).powi(2)).sum();
        error.is_finite().then_some(Self { x, before, after, error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A curve of two equal blocks, with y as a function of the base-2 logarithm of the level.
    fn curve(levels: i32, log_y: impl Fn(f64) -> f64) -> Curve {
        let block = (0..levels).map(|k| Some(log_y(f64::from(k)).exp2())).collect();
        let levels = (0..levels).map(|k| f64::from(k).exp2()).collect();
        Curve::new(levels, vec![block; 2]).unwrap()
    }

    #[test]
    fn a_corner_is_found_at_a_level_and_between_two() {
        for corner in [3.0, 4.0, 4.4, 5.75] {
            let bent = curve(9, |k| if k < corner { k } else { corner - 0.5 * (k - corner) });
            let found = bent.change_point(&Bootstrap::default()).unwrap();
            assert!((found.level.log2() - corner).abs() < 1e-9, "{corner}: {found:?}");
            assert!((found.slope_before - 1.0).abs() < 1e-9, "{found:?}");
            assert!((found.slope_after + 0.5).abs() < 1e-9, "{found:?}");
            assert!(found.explained > 1.0 - 1e-9 && found.p_value.unwrap() < 0.001, "{found:?}");
        }
    }

    /// No position on a fine grid is better.
    #[test]
    fn the_hinge_is_that_of_least_squares() {
        let wavy = curve(11, |k| (0.4 * k).sin() * 3.0 + 0.3 * (k * k) % 1.7);
        let logs = wavy.logs().unwrap();
        let points = logs.points(&logs.medians());
        let found = Hinge::fit(&points).unwrap();
        let (first, last) = (points[1].x, points[points.len() - 2].x);
        let grid = (0..=4000).map(|i| first + (last - first) * f64::from(i) / 4000.0);
        let best = grid.filter_map(|x| Some(Hinge::at(&points, x)?.error)).fold(f64::MAX, f64::min);
        assert!(
            found.error <= best * (1.0 + 1e-12) && found.error > 0.999 * best,
            "{found:?} {best}"
        );
    }

    #[test]
    fn a_straight_line_has_no_hinge() {
        let straight = curve(8, |k| 1.0 + 0.3 * k);
        assert_eq!(
            straight.change_point(&Bootstrap::default()),
            Err(CurveStatisticError::NoVariation)
        );
        let short = curve(4, |k| k * k).change_point(&Bootstrap::default());
        assert_eq!(short, Err(CurveStatisticError::TooFewLevels { found: 4, needed: 5 }));
    }
}
