//! Maximum of a curve.

use super::{BlockSelection, Curve, CurveStatisticError};
use crate::{
    bootstrap::{Bootstrap, Interval},
    quantile::{QuantileType, quantile_of_type},
};

/// Level at which a curve is highest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// Level with the greatest median; the lowest of several equal ones.
    pub level: f64,
    /// Index among the curve's levels, counted from 0.
    pub index: usize,
    /// Median at that level, in the unit of the values.
    pub median: f64,
    /// Whether levels with values lie on both sides of it.
    pub is_inner: bool,
    /// Interval of the peak's level over resamples of the blocks; both ends are levels. `None` for fewer than two
    /// blocks.
    pub interval: Option<Interval>,
    /// Share of resamples with a peak at the same level, from 0 to 1. `None` as for the interval.
    pub share: Option<f64>,
}

impl Curve {
    /// Finds the level with the greatest median over `blocks`, and the percentile interval of its position over
    /// resamples of those blocks, by quantiles of type 1.
    ///
    /// Test a peak on blocks other than those that selected it: use [`BlockSelection::Even`] here, and the values of
    /// [`Curve::select`] with the odd ones for the test.
    ///
    /// # Errors
    ///
    /// Returns an error if no level has a value in those blocks.
    pub fn peak(
        &self,
        blocks: BlockSelection,
        bootstrap: &Bootstrap,
    ) -> Result<Peak, CurveStatisticError> {
        let curve = self.select(blocks);
        let medians = curve.medians();
        let index =
            highest(&medians).ok_or(CurveStatisticError::TooFewLevels { found: 0, needed: 1 })?;
        let median =
            medians[index].ok_or(CurveStatisticError::TooFewLevels { found: 0, needed: 1 })?;
        let level = curve.levels[index];
        let places = curve.resampled(bootstrap, highest).map(|found| curve.levels_at(&found));
        Ok(Peak {
            level,
            index,
            median,
            is_inner: has_values(&medians[..index]) && has_values(&medians[index + 1..]),
            interval: places.as_deref().and_then(|places| levels_between(places, bootstrap)),
            share: places.as_deref().and_then(|places| share_of(places, level)),
        })
    }

    fn levels_at(&self, found: &[Option<usize>]) -> Vec<f64> {
        let mut levels: Vec<f64> = found.iter().flatten().map(|&i| self.levels[i]).collect();
        levels.sort_by(f64::total_cmp);
        levels
    }
}

fn has_values(medians: &[Option<f64>]) -> bool {
    medians.iter().any(Option::is_some)
}

/// Index of the greatest median, the first of several.
fn highest(medians: &[Option<f64>]) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (index, median) in medians.iter().enumerate() {
        if let Some(median) = *median
            && best.is_none_or(|(_, greatest)| median > greatest)
        {
            best = Some((index, median));
        }
    }
    best.map(|(index, _)| index)
}

/// Middle `level` of `places`, which ascend; each end is one of them.
pub(super) fn levels_between(places: &[f64], bootstrap: &Bootstrap) -> Option<Interval> {
    let tail = bootstrap.tail_probability();
    let at = |p| quantile_of_type(places, p, QuantileType::InvertedCdf);
    Some(Interval { low: at(tail)?, high: at(1.0 - tail)? })
}

/// Share of `places` equal to `place`.
#[allow(clippy::cast_precision_loss, reason = "numbers of resamples")]
pub(super) fn share_of(places: &[f64], place: f64) -> Option<f64> {
    let equal = places.iter().filter(|other| **other == place).count();
    (!places.is_empty()).then(|| equal as f64 / places.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(blocks: &[[f64; 4]]) -> Curve {
        let blocks = blocks.iter().map(|block| block.map(Some).to_vec()).collect();
        Curve::new(vec![1.0, 2.0, 4.0, 8.0], blocks).unwrap()
    }

    #[test]
    fn the_peak_is_that_of_the_selected_blocks() {
        let two = curve(&[[1.0, 5.0, 2.0, 1.0], [1.0, 2.0, 3.0, 9.0]]);
        let bootstrap = Bootstrap::default();
        let even = two.peak(BlockSelection::Even, &bootstrap).unwrap();
        assert_eq!((even.level, even.index, even.is_inner), (2.0, 1, true));
        assert_eq!((even.interval, even.share), (None, None));
        let odd = two.peak(BlockSelection::Odd, &bootstrap).unwrap();
        assert_eq!((odd.level, odd.is_inner), (8.0, false));
    }

    #[test]
    fn doubt_between_two_levels_spans_both() {
        let undecided = curve(&[[1.0, 5.0, 4.9, 1.0], [1.0, 4.9, 5.0, 1.0], [1.0, 5.0, 5.1, 0.5]]);
        let peak = undecided.peak(BlockSelection::All, &Bootstrap::default()).unwrap();
        assert_eq!(peak.interval, Some(Interval { low: 2.0, high: 4.0 }));
        assert!(peak.share.unwrap() > 0.2 && peak.share.unwrap() < 0.9);
        let certain = curve(&[[1.0, 9.0, 4.9, 1.0], [1.0, 9.1, 5.0, 1.0]]);
        let peak = certain.peak(BlockSelection::All, &Bootstrap::default()).unwrap();
        assert_eq!(peak.interval, Some(Interval { low: 2.0, high: 2.0 }));
        assert_eq!(peak.share, Some(1.0));
    }

    #[test]
    fn equal_levels_peak_at_the_lowest() {
        let flat =
            curve(&[[3.0; 4], [3.0; 4]]).peak(BlockSelection::All, &Bootstrap::default()).unwrap();
        assert_eq!((flat.level, flat.is_inner, flat.share), (1.0, false, Some(1.0)));
    }

    #[test]
    fn levels_without_values_are_no_sides() {
        let block = vec![None, Some(2.0), Some(1.0), None];
        let curve = Curve::new(vec![1.0, 2.0, 4.0, 8.0], vec![block]).unwrap();
        assert!(!curve.peak(BlockSelection::All, &Bootstrap::default()).unwrap().is_inner);
        assert!(curve.peak(BlockSelection::Odd, &Bootstrap::default()).is_err());
    }
}
