//! Geometric means over the levels within each block: one figure for a whole curve and block, in which a factor at one
//! level has the same weight as the same factor at another (Fleming and Wallace 1986, *How Not to Lie with Statistics*,
//! Communications of the ACM 29).

use super::{Curve, CurveStatisticError, paired};
use crate::description::geometric_mean;

/// Geometric means of two curves in one block, over the levels that both have in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedMeans {
    /// Index of the block, counted from 0.
    pub block: usize,
    /// Number of levels that both have in it.
    pub levels: usize,
    /// Mean of the first curve, in the unit of its values.
    pub first: f64,
    /// Mean of the second curve, in the unit of its values.
    pub second: f64,
}

/// Geometric means of `first` and `second` by block, each over the levels that both curves have in that block. Blocks
/// without such a level are left out.
///
/// # Errors
///
/// Returns an error if the curves share no level or no block has a pair, and if a paired value is not above 0.
pub fn geometric_means(
    first: &Curve,
    second: &Curve,
) -> Result<Vec<PairedMeans>, CurveStatisticError> {
    let (first, second) = paired(first, second)?;
    // Checks every value.
    first.logs()?;
    second.logs()?;
    let by_block = first.blocks.iter().zip(&second.blocks).enumerate();
    let means: Vec<PairedMeans> = by_block
        .filter_map(|(block, (ours, theirs))| {
            let levels = ours.iter().flatten().count();
            let (first, second) = (mean(ours)?, mean(theirs)?);
            Some(PairedMeans { block, levels, first, second })
        })
        .collect();
    match means.is_empty() {
        true => Err(CurveStatisticError::TooFewBlocks { found: 0, needed: 1 }),
        false => Ok(means),
    }
}

impl Curve {
    /// Geometric mean over levels of every block, in the unit of the values; `None` for a block that lacks a level,
    /// since its mean would not be comparable.
    ///
    /// # Errors
    ///
    /// Returns an error if a value is not above 0.
    pub fn geometric_means(&self) -> Result<Vec<Option<f64>>, CurveStatisticError> {
        let whole = |block: &Vec<Option<f64>>| block.iter().all(Option::is_some);
        // Checks every value.
        self.logs()?;
        let means = self.blocks.iter().map(|block| mean(block).filter(|_| whole(block)));
        Ok(means.collect())
    }
}

/// Geometric mean of the values that are present.
fn mean(values: &[Option<f64>]) -> Option<f64> {
    geometric_mean(&values.iter().flatten().copied().collect::<Vec<f64>>()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_one_curve_lacks_counts_in_neither() {
        let one = vec![vec![Some(1.0), Some(4.0)], vec![Some(2.0), Some(8.0)], vec![None, None]];
        let other = vec![vec![Some(3.0), Some(3.0)], vec![Some(5.0), None], vec![Some(1.0), None]];
        let levels = vec![1.0, 2.0];
        let one = Curve::new(levels.clone(), one).unwrap();
        let other = Curve::new(levels, other).unwrap();
        let means = geometric_means(&one, &other).unwrap();
        assert_eq!(means.len(), 2);
        assert!((means[0].first - 2.0).abs() < 1e-12 && (means[0].second - 3.0).abs() < 1e-12);
        assert_eq!((means[1].block, means[1].levels), (1, 1));
        assert!((means[1].first - 2.0).abs() < 1e-12 && (means[1].second - 5.0).abs() < 1e-12);
        let alone = one.geometric_means().unwrap();
        assert!((alone[1].unwrap() - 4.0).abs() < 1e-12 && alone[2].is_none());
    }

    #[test]
    fn zero_has_no_geometric_mean() {
        let one = Curve::new(vec![1.0], vec![vec![Some(0.0)]]).unwrap();
        assert_eq!(
            geometric_means(&one, &one),
            Err(CurveStatisticError::NotPositive { level: 1.0 })
        );
        let none = Curve::new(vec![1.0], vec![vec![None]]).unwrap();
        assert!(matches!(
            geometric_means(&none, &none),
            Err(CurveStatisticError::TooFewBlocks { .. })
        ));
        let elsewhere = Curve::new(vec![2.0], vec![vec![None]]).unwrap();
        assert!(matches!(
            geometric_means(&none, &elsewhere),
            Err(CurveStatisticError::TooFewLevels { .. })
        ));
    }
}
