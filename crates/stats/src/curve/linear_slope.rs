//! Slope of a straight line: the change of y for each unit of the level.

use super::line::{CurvePoint, Line};
use super::{Curve, CurveStatisticError};
use crate::bootstrap::{Bootstrap, Interval};
use crate::spread::median;

/// Least-squares lines y = c + b level of a curve, by block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearSlope {
    /// Median over the blocks of the slope b, in the unit of y for each unit of the level.
    pub median: f64,
    /// Interval of the median, by order statistics ([`Bootstrap::median`]). `None` for too few blocks, fewer than six at 95 %.
    pub interval: Option<Interval>,
    /// Median over the blocks of the line at the lowest level, in the unit of y.
    pub at_lowest: f64,
    /// Number of blocks with a line.
    pub blocks: usize,
}

impl Curve {
    /// Fits y against the level by least squares within each block that has all levels, and takes medians over the blocks,
    /// which are independent.
    ///
    /// # Errors
    ///
    /// Returns an error for fewer than `min_levels` levels, or two if that is more, and if no block has all of them.
    pub fn linear_slope(
        &self,
        min_levels: usize,
        bootstrap: &Bootstrap,
    ) -> Result<LinearSlope, CurveStatisticError> {
        super::enough_levels(self.levels.len(), min_levels.max(2))?;
        let lines = self.blocks.iter().filter_map(|block| {
            let points =
                self.levels.iter().zip(block).map(|(&x, y)| Some(CurvePoint { x, y: (*y)? }));
            Line::fit(&points.collect::<Option<Vec<_>>>()?)
        });
        let lines: Vec<Line> = lines.collect();
        let slopes: Vec<f64> = lines.iter().map(|line| line.slope).collect();
        let lowest: Vec<f64> = lines.iter().map(|line| line.at(self.levels[0])).collect();
        let no_block = CurveStatisticError::TooFewBlocks { found: 0, needed: 1 };
        let (Some(slope), Some(at_lowest)) = (median(&slopes), median(&lowest)) else {
            return Err(no_block);
        };
        let interval = bootstrap.median(&slopes);
        Ok(LinearSlope { median: slope, interval, at_lowest, blocks: lines.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(blocks: Vec<Vec<Option<f64>>>) -> Curve {
        Curve::new(vec![1.0, 2.0, 4.0, 8.0], blocks).unwrap()
    }

    #[test]
    fn a_line_has_its_slope_and_its_lowest_value() {
        let block = |c: f64| [1.0, 2.0, 4.0, 8.0].map(|x| Some(c + 2.5 * x)).to_vec();
        let mut blocks: Vec<_> = (1..=7).map(|c| block(f64::from(c))).collect();
        blocks.push(vec![Some(1e9), None, Some(0.0), Some(0.0)]);
        let slope = curve(blocks).linear_slope(3, &Bootstrap::default()).unwrap();
        assert!((slope.median - 2.5).abs() < 1e-12 && (slope.at_lowest - 6.5).abs() < 1e-12);
        assert_eq!(slope.blocks, 7, "a block without a level has no line");
        let interval = slope.interval.unwrap();
        assert!((interval.low - 2.5).abs() < 1e-12 && (interval.high - 2.5).abs() < 1e-12);
    }

    /// `scipy.stats.linregress([1, 2, 4, 8], [3.1, 4.9, 9.2, 17.3])`, SciPy 1.17.1: slope 2.042608695652174, intercept
    /// 0.9652173913043471.
    #[test]
    fn the_slope_is_that_of_scipy() {
        let block = [3.1, 4.9, 9.2, 17.3].map(Some).to_vec();
        let slope = curve(vec![block]).linear_slope(2, &Bootstrap::default()).unwrap();
        assert!((slope.median - 2.042_608_695_652_174).abs() < 1e-12, "{slope:?}");
        assert!((slope.at_lowest - 3.007_826_086_956_521).abs() < 1e-12, "{slope:?}");
        assert_eq!(slope.interval, None, "one block");
    }

    #[test]
    fn too_few_levels_or_blocks_have_no_slope() {
        let block = vec![Some(1.0), None, None, None];
        assert!(curve(vec![block]).linear_slope(3, &Bootstrap::default()).is_err());
        let whole = vec![[1.0; 4].map(Some).to_vec(); 9];
        assert!(curve(whole.clone()).linear_slope(5, &Bootstrap::default()).is_err());
        assert_eq!(curve(whole).linear_slope(4, &Bootstrap::default()).unwrap().median, 0.0);
    }
}
