//! Curves: a quantity as a function of ascending levels of a factor (bandwidth against buffer size), measured in
//! blocks. Block k holds one value for every level; excluded values are missing.
//!
//! The block is the independent unit throughout: statistics use values by block, and bootstraps draw whole blocks.
//! Where levels or values are compared as ratios, their logarithms are taken, and values that are not above 0 are
//! rejected ([`CurveStatisticError::NotPositive`]), never silently left out.

mod change_point;
mod crossing;
mod error;
mod inflection;
mod line;
mod linear_slope;
mod means;
mod peak;
mod plateau;
mod scalability;
mod shape;
mod slope;

pub use change_point::ChangePoint;
pub use crossing::{
    Course, Crossing, CrossingDirection, CrossingPoint, LastingCrossing, OpenInterval, crossing,
};
pub use error::{CurveError, CurveStatisticError};
pub use inflection::{Inflection, LocatedSlope};
pub use linear_slope::LinearSlope;
pub use means::{PairedMeans, geometric_means};
pub use peak::Peak;
pub use plateau::Plateau;
pub use scalability::Scalability;
pub use shape::{LevelShape, shapes};
pub use slope::Slope;

use crate::{bootstrap::Bootstrap, spread::median_in_place};

/// A quantity as a function of the levels of a factor, in blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    levels: Vec<f64>,
    blocks: Vec<Vec<Option<f64>>>,
}

/// Selection of blocks of a curve, numbered from 0 in the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSelection {
    /// Every block.
    All,
    /// Blocks 0, 2, 4 and so on.
    Even,
    /// Blocks 1, 3, 5 and so on.
    Odd,
}

/// A value at a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelValue {
    /// Level of the factor, in its unit.
    pub level: f64,
    /// Value at that level.
    pub value: f64,
}

impl Curve {
    /// Creates a curve over `levels`, with one optional value for each level in every one of `blocks`. Without blocks
    /// no statistic has a value.
    ///
    /// # Errors
    ///
    /// Returns an error for no levels; for levels that are not above 0 and finite, or that do not ascend (their
    /// logarithms must, too); for a block of another length; and for a value that is not finite.
    pub fn new(levels: Vec<f64>, blocks: Vec<Vec<Option<f64>>>) -> Result<Self, CurveError> {
        check_levels(&levels)?;
        for (block, values) in blocks.iter().enumerate() {
            if values.len() != levels.len() {
                let (expected, found) = (levels.len(), values.len());
                return Err(CurveError::BlockLength { block, expected, found });
            }
            if let Some(at) = values.iter().position(|v| v.is_some_and(|v| !v.is_finite())) {
                return Err(CurveError::NotFinite { block, level: levels[at] });
            }
        }
        Ok(Self { levels, blocks })
    }

    /// Levels, ascending.
    #[must_use]
    pub fn levels(&self) -> &[f64] {
        &self.levels
    }

    /// Blocks in order, each with an optional value for every level.
    #[must_use]
    pub fn blocks(&self) -> &[Vec<Option<f64>>] {
        &self.blocks
    }

    /// Returns a curve of only `blocks`.
    #[must_use]
    pub fn select(&self, blocks: BlockSelection) -> Self {
        let (first, step) = match blocks {
            BlockSelection::All => (0, 1),
            BlockSelection::Even => (0, 2),
            BlockSelection::Odd => (1, 2),
        };
        let blocks = self.blocks.iter().skip(first).step_by(step).cloned().collect();
        Self { levels: self.levels.clone(), blocks }
    }

    /// Median over blocks at every level, in the unit of the values; `None` if every block lacks the level.
    #[must_use]
    pub fn medians(&self) -> Vec<Option<f64>> {
        let every: Vec<usize> = (0..self.blocks.len()).collect();
        self.medians_of(&every)
    }

    /// Medians over the blocks `chosen`, some of them more than once.
    fn medians_of(&self, chosen: &[usize]) -> Vec<Option<f64>> {
        let mut values = Vec::with_capacity(chosen.len());
        (0..self.levels.len())
            .map(|level| {
                values.clear();
                values.extend(chosen.iter().filter_map(|&block| self.blocks[block][level]));
                median_in_place(&mut values).filter(|median| median.is_finite())
            })
            .collect()
    }

    /// Applies `statistic` to the medians by level of each resample of whole blocks. Returns `None` as for
    /// [`Bootstrap::draws`].
    fn resampled<T>(
        &self,
        bootstrap: &Bootstrap,
        statistic: impl Fn(&[Option<f64>]) -> T,
    ) -> Option<Vec<T>> {
        bootstrap.draws(self.blocks.len(), |chosen| statistic(&self.medians_of(chosen)))
    }

    /// Curve of the natural logarithms.
    fn logs(&self) -> Result<Self, CurveStatisticError> {
        self.map_values(|level, value| {
            if value > 0.0 {
                Ok(value.ln())
            } else {
                Err(CurveStatisticError::NotPositive { level })
            }
        })
    }

    /// Curve with every value replaced by `change` of its level and value.
    fn map_values(
        &self,
        change: impl Fn(f64, f64) -> Result<f64, CurveStatisticError>,
    ) -> Result<Self, CurveStatisticError> {
        let changed = |(value, &level): (&Option<f64>, &f64)| {
            value.map(|value| change(level, value)).transpose()
        };
        let blocks =
            self.blocks.iter().map(|block| block.iter().zip(&self.levels).map(changed).collect());
        Ok(Self { levels: self.levels.clone(), blocks: blocks.collect::<Result<_, _>>()? })
    }

    /// Pairs the values that are present with the natural logarithms of their levels.
    fn points(&self, values: &[Option<f64>]) -> Vec<line::CurvePoint> {
        let known = self.levels.iter().zip(values);
        known.filter_map(|(level, y)| Some(line::CurvePoint { x: level.ln(), y: (*y)? })).collect()
    }
}

fn check_levels(levels: &[f64]) -> Result<(), CurveError> {
    if levels.is_empty() {
        return Err(CurveError::NoLevels);
    }
    if let Some(&level) = levels.iter().find(|level| !(level.is_finite() && **level > 0.0)) {
        return Err(CurveError::Level { level });
    }
    // Two levels may differ only in their last bit, and have equal logarithms.
    match levels.windows(2).find(|pair| pair[1].ln() <= pair[0].ln()) {
        Some(pair) => Err(CurveError::Order { level: pair[1] }),
        None => Ok(()),
    }
}

/// Restricts both curves to the levels they share and to as many blocks as both have, with a value only where both have
/// one.
fn paired(first: &Curve, second: &Curve) -> Result<(Curve, Curve), CurveStatisticError> {
    let shared: Vec<(usize, usize)> = first
        .levels
        .iter()
        .enumerate()
        .filter_map(|(i, level)| Some((i, second.levels.iter().position(|other| other == level)?)))
        .collect();
    if shared.is_empty() {
        return Err(CurveStatisticError::TooFewLevels { found: 0, needed: 1 });
    }
    let levels: Vec<f64> = shared.iter().map(|&(i, _)| first.levels[i]).collect();
    let both = |(one, other): (&Vec<Option<f64>>, &Vec<Option<f64>>)| {
        shared.iter().map(|&(i, j)| one[i].zip(other[j]).unzip()).unzip()
    };
    let (ours, theirs) = first.blocks.iter().zip(&second.blocks).map(both).unzip();
    Ok((Curve { levels: levels.clone(), blocks: ours }, Curve { levels, blocks: theirs }))
}

/// Returns an error if `found` is less than `needed`.
fn enough_levels(found: usize, needed: usize) -> Result<(), CurveStatisticError> {
    if found < needed { Err(CurveStatisticError::TooFewLevels { found, needed }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_curve_is_refused() {
        let new = |levels: &[f64], values: &[Option<f64>]| {
            Curve::new(levels.to_vec(), vec![values.to_vec()])
        };
        assert_eq!(new(&[], &[]), Err(CurveError::NoLevels));
        assert_eq!(new(&[0.0], &[None]), Err(CurveError::Level { level: 0.0 }));
        assert_eq!(new(&[2.0, 1.0], &[None; 2]), Err(CurveError::Order { level: 1.0 }));
        let close = 1e9_f64.next_up();
        assert_eq!(new(&[1e9, close], &[None; 2]), Err(CurveError::Order { level: close }));
        assert!(matches!(
            new(&[1.0], &[]),
            Err(CurveError::BlockLength { expected: 1, found: 0, .. })
        ));
        let infinite = new(&[1.0], &[Some(f64::INFINITY)]);
        assert_eq!(infinite, Err(CurveError::NotFinite { block: 0, level: 1.0 }));
    }

    #[test]
    fn medians_are_of_what_there_is() {
        let blocks = vec![
            vec![Some(1.0), None, None],
            vec![Some(2.0), Some(5.0), None],
            vec![Some(9.0), Some(7.0), None],
        ];
        let curve = Curve::new(vec![1.0, 2.0, 4.0], blocks).unwrap();
        assert_eq!(curve.medians(), [Some(2.0), Some(6.0), None]);
        assert_eq!(curve.select(BlockSelection::Even).medians(), [Some(5.0), Some(7.0), None]);
        assert_eq!(curve.select(BlockSelection::Odd).medians(), [Some(2.0), Some(5.0), None]);
        assert_eq!(curve.select(BlockSelection::All), curve);
    }

    #[test]
    fn pairs_are_of_levels_and_blocks_that_both_have() {
        let one = vec![vec![Some(1.0), None, Some(3.0)], vec![Some(4.0), Some(5.0), Some(6.0)]];
        let one = Curve::new(vec![1.0, 2.0, 4.0], one).unwrap();
        let other =
            Curve::new(vec![2.0, 4.0, 8.0], vec![vec![Some(20.0), Some(40.0), None]]).unwrap();
        let (ours, theirs) = paired(&one, &other).unwrap();
        assert_eq!(ours, Curve::new(vec![2.0, 4.0], vec![vec![None, Some(3.0)]]).unwrap());
        assert_eq!(theirs, Curve::new(vec![2.0, 4.0], vec![vec![None, Some(40.0)]]).unwrap());
    }
}
