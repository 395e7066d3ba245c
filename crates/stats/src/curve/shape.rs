//! Shape of a curve, independent of its height: every block divided by its own mean over levels.

use super::{Curve, CurveStatisticError, paired};
use crate::{
    bootstrap::{Bootstrap, Interval},
    moments::{Scale, mean},
    spread::median,
};

/// Two shapes at one level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelShape {
    /// Level of the factor.
    pub level: f64,
    /// Values of both curves relative to their block's mean, one pair per block that has both; input for paired tests.
    pub pairs: Vec<(f64, f64)>,
    /// Median over those pairs of first over second; 1 means equal shapes.
    pub ratio: f64,
    /// Interval of the ratio, by order statistics ([`Bootstrap::median`]). Shapes are equivalent within 10 % if it lies
    /// within 0.9 to 1.1 at every level; a `level` of 0.9 makes that a test at 5 % (Schuirmann 1987, Journal of
    /// Pharmacokinetics and Biopharmaceutics 15). `None` for too few pairs, fewer than six at 95 %: few samples cannot
    /// show equivalence.
    pub interval: Option<Interval>,
}

impl Curve {
    /// Divides every block by its arithmetic mean over the levels that it has. A block with a single value has no shape
    /// and is missing.
    ///
    /// # Errors
    ///
    /// Returns an error if a value is not above 0, or too small relative to the mean for a double.
    pub fn shape(&self) -> Result<Self, CurveStatisticError> {
        // Checks every value.
        self.logs()?;
        let blocks = self.blocks.iter().map(|block| relative_to_mean(block));
        Ok(Self { levels: self.levels.clone(), blocks: blocks.collect::<Result<_, _>>()? })
    }
}

/// Shapes of `first` and `second` by level, each block relative to the mean of those levels that both have in it.
/// Levels without a pair are left out.
///
/// # Errors
///
/// As for [`Curve::shape`], and if the curves share no level or no block has two pairs.
pub fn shapes(
    first: &Curve,
    second: &Curve,
    bootstrap: &Bootstrap,
) -> Result<Vec<LevelShape>, CurveStatisticError> {
    let (first, second) = paired(first, second)?;
    let (first, second) = (first.shape()?, second.shape()?);
    let mut shapes = Vec::with_capacity(first.levels.len());
    for (index, &level) in first.levels.iter().enumerate() {
        let by_block = first.blocks.iter().zip(&second.blocks);
        let pairs: Vec<(f64, f64)> =
            by_block.filter_map(|(ours, theirs)| ours[index].zip(theirs[index])).collect();
        if !pairs.is_empty() {
            shapes.push(level_shape(level, pairs, bootstrap)?);
        }
    }
    match shapes.is_empty() {
        true => Err(CurveStatisticError::TooFewBlocks { found: 0, needed: 1 }),
        false => Ok(shapes),
    }
}

fn level_shape(
    level: f64,
    pairs: Vec<(f64, f64)>,
    bootstrap: &Bootstrap,
) -> Result<LevelShape, CurveStatisticError> {
    let ratios: Vec<f64> = pairs.iter().map(|(one, other)| one / other).collect();
    let ratio = median(&ratios).ok_or(CurveStatisticError::NotFinite)?;
    Ok(LevelShape { level, ratio, interval: bootstrap.median(&ratios), pairs })
}

fn relative_to_mean(block: &[Option<f64>]) -> Result<Vec<Option<f64>>, CurveStatisticError> {
    let present: Vec<f64> = block.iter().flatten().copied().collect();
    if present.len() < 2 {
        return Ok(vec![None; block.len()]);
    }
    let scale = Scale::from_sets(&[&present]);
    let mean = mean(&scale.down_all(&present));
    let over = |value: f64| {
        let over = scale.down(value) / mean;
        // Relative to a mean of 10^308 the smallest values underflow to 0.
        if over > 0.0 { Ok(over) } else { Err(CurveStatisticError::NotFinite) }
    };
    block.iter().map(|value| value.map(over).transpose()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTORS: [f64; 7] = [1.0, 1.1, 0.9, 1.02, 0.97, 1.3, 0.8];

    fn curve(values: [f64; 3], height: f64) -> Curve {
        let block = |factor| values.map(|value| Some(value * factor * height)).to_vec();
        Curve::new(vec![1.0, 2.0, 4.0], FACTORS.map(block).to_vec()).unwrap()
    }

    #[test]
    fn height_is_no_part_of_a_shape() {
        let (one, half) = (curve([1.0, 2.0, 3.0], 1.0), curve([1.0, 2.0, 3.0], 0.5));
        for level in shapes(&one, &half, &Bootstrap::default()).unwrap() {
            let interval = level.interval.unwrap();
            assert!((level.ratio - 1.0).abs() < 1e-12 && level.pairs.len() == 7);
            assert!((interval.low - 1.0).abs() < 1e-12 && (interval.high - 1.0).abs() < 1e-12);
        }
        let shape = one.shape().unwrap();
        assert!((shape.medians()[0].unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn another_shape_is_another() {
        let (one, other) = (curve([1.0, 2.0, 3.0], 1.0), curve([2.0, 2.0, 2.0], 1.0));
        let ratios: Vec<f64> =
            shapes(&one, &other, &Bootstrap::default()).unwrap().iter().map(|s| s.ratio).collect();
        assert!((ratios[0] - 0.5).abs() < 1e-12 && (ratios[2] - 1.5).abs() < 1e-12, "{ratios:?}");
    }

    #[test]
    fn few_blocks_show_no_equivalence() {
        let blocks = vec![vec![Some(1.0), Some(2.0)]; 5];
        let curve = Curve::new(vec![1.0, 2.0], blocks).unwrap();
        let shapes = shapes(&curve, &curve, &Bootstrap::default()).unwrap();
        assert!(shapes.iter().all(|level| level.ratio == 1.0 && level.interval.is_none()));
    }

    #[test]
    fn one_value_has_no_shape() {
        let one = Curve::new(vec![1.0, 2.0], vec![vec![Some(1.0), None]]).unwrap();
        let answer = shapes(&one, &one, &Bootstrap::default());
        assert_eq!(answer, Err(CurveStatisticError::TooFewBlocks { found: 0, needed: 1 }));
        let zero = Curve::new(vec![1.0, 2.0], vec![vec![Some(1.0), Some(0.0)]]).unwrap();
        assert_eq!(zero.shape(), Err(CurveStatisticError::NotPositive { level: 2.0 }));
    }
}
