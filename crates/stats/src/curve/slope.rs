//! Slope of a curve: the exponent b of y = c level^b.

use super::{Curve, CurveStatisticError, line::Line};
use crate::{
    bootstrap::{Bootstrap, Interval},
    moments::mean,
    spread::median,
};

/// Slopes of a curve's logarithm against the logarithm of the level, by block. Dimensionless: 1 is proportional, -0.1 a
/// decrease by 6.7 % for each doubling.
#[derive(Clone, Debug, PartialEq)]
pub struct Slope {
    /// Least-squares slope of every block, over the levels that it has; `None` for fewer than two.
    pub by_block: Vec<Option<f64>>,
    /// Median of the slopes.
    pub median: f64,
    /// Interval of the median, by order statistics ([`Bootstrap::median`]); the one to use for decisions. `None` for
    /// too few blocks, fewer than six at 95 %.
    pub median_interval: Option<Interval>,
    /// Mean of the slopes.
    pub mean: f64,
    /// Bias-corrected and accelerated interval of the mean ([`Bootstrap::bca`]), too narrow for few blocks. `None` for
    /// fewer than two blocks.
    pub mean_interval: Option<Interval>,
}

impl Curve {
    /// Fits log y against log level by least squares within each block. The slopes of different blocks are independent,
    /// whatever the values within a block share, so the intervals are based on those slopes.
    ///
    /// # Errors
    ///
    /// Returns an error for fewer than two levels, if a value is not above 0, and if no block has two values.
    pub fn slope(&self, bootstrap: &Bootstrap) -> Result<Slope, CurveStatisticError> {
        super::enough_levels(self.levels.len(), 2)?;
        let logs = self.logs()?;
        let by_block: Vec<Option<f64>> =
            logs.blocks.iter().map(|block| Some(Line::fit(&logs.points(block))?.slope)).collect();
        let slopes: Vec<f64> = by_block.iter().flatten().copied().collect();
        let median =
            median(&slopes).ok_or(CurveStatisticError::TooFewBlocks { found: 0, needed: 1 })?;
        Ok(Slope {
            by_block,
            median,
            median_interval: bootstrap.median(&slopes),
            mean: mean(&slopes),
            mean_interval: bootstrap.bca(&slopes, mean),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_has_its_exponent_for_a_slope() {
        let levels: Vec<f64> = (0..6).map(|k| f64::from(1 << k)).collect();
        let block = |c: f64| levels.iter().map(|l| Some(c * l.powf(-0.25))).collect::<Vec<_>>();
        let mut blocks: Vec<_> = (1..=6).map(|c| block(f64::from(c))).collect();
        blocks[2][4] = None;
        blocks.push(vec![None, None, Some(1.0), None, None, None]);
        let slope =
            Curve::new(levels.clone(), blocks).unwrap().slope(&Bootstrap::default()).unwrap();
        assert_eq!(slope.by_block.len(), 7);
        assert_eq!(slope.by_block[6], None);
        assert!((slope.median + 0.25).abs() < 1e-12 && (slope.mean + 0.25).abs() < 1e-12);
        let interval = slope.median_interval.unwrap();
        assert!((interval.low + 0.25).abs() < 1e-12 && (interval.high + 0.25).abs() < 1e-12);
    }

    #[test]
    fn one_point_a_block_has_no_slope() {
        let curve = Curve::new(vec![1.0, 2.0], vec![vec![Some(1.0), None]; 9]).unwrap();
        let answer = curve.slope(&Bootstrap::default());
        assert_eq!(answer, Err(CurveStatisticError::TooFewBlocks { found: 0, needed: 1 }));
        let point = Curve::new(vec![1.0], vec![vec![Some(1.0)]; 9]).unwrap();
        let answer = point.slope(&Bootstrap::default());
        assert_eq!(answer, Err(CurveStatisticError::TooFewLevels { found: 1, needed: 2 }));
    }
}
