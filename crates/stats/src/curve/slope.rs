//! How steeply a curve rises: the exponent b of y = c level^b.

use super::{Curve, NoAnswer, line::Line};
use crate::{
    bootstrap::{Bootstrap, Interval},
    moments::mean,
    spread::median,
};

/// The slopes of a curve's logarithm on the logarithm of the level, by block. Without unit: 1 is
/// proportional, -0.1 a fall by 6.7 % for each doubling.
#[derive(Clone, Debug, PartialEq)]
pub struct Slope {
    /// The slope of least squares in every block, over the levels that it has; none for fewer than two.
    pub by_block: Vec<Option<f64>>,
    /// The median of those.
    pub median: f64,
    /// Its interval, by order statistics ([`Bootstrap::median`]): the one to judge by. `None` where
    /// there are too few blocks for it, six at 95 %.
    pub median_interval: Option<Interval>,
    /// The mean of those.
    pub mean: f64,
    /// Its bias-corrected and accelerated interval ([`Bootstrap::bca`]), too narrow for few blocks.
    /// `None` for fewer than two.
    pub mean_interval: Option<Interval>,
}

impl Curve {
    /// The slope of log y on log level, by least squares within each block. The slopes of different
    /// blocks are independent, whatever the values within a block have in common, so that the intervals
    /// are of those slopes.
    ///
    /// # Errors
    ///
    /// For fewer than two levels, where a value is not above 0, and where no block has two values.
    pub fn slope(&self, bootstrap: &Bootstrap) -> Result<Slope, NoAnswer> {
        super::enough_levels(self.levels.len(), 2)?;
        let logs = self.logs()?;
        let by_block: Vec<Option<f64>> = logs
            .blocks
            .iter()
            .map(|block| Some(Line::through(&logs.points(block))?.slope))
            .collect();
        let slopes: Vec<f64> = by_block.iter().flatten().copied().collect();
        let median = median(&slopes).ok_or(NoAnswer::TooFewBlocks { found: 0, needed: 1 })?;
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
        assert_eq!(answer, Err(NoAnswer::TooFewBlocks { found: 0, needed: 1 }));
        let point = Curve::new(vec![1.0], vec![vec![Some(1.0)]; 9]).unwrap();
        let answer = point.slope(&Bootstrap::default());
        assert_eq!(answer, Err(NoAnswer::TooFewLevels { found: 1, needed: 2 }));
    }
}
