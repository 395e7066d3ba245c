//! Bootstrap over blocks: values that were measured together are drawn together. A block (a repetition of every case)
//! is the independent unit. Values within a block share the state of the machine, and resampling them individually
//! would treat that as noise that averages out (Davison and Hinkley 1997, *Bootstrap Methods and their Application*,
//! section 3.8).

use crate::{
    bootstrap::{Bootstrap, Interval, quantile_interval},
    quantile::ascending,
};

/// Interval of a statistic over resamples of whole blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockInterval {
    /// Middle `level` of those resamples that have a value, in the unit of the statistic.
    pub interval: Interval,
    /// Share of resamples that have a value, above 0 and at most 1. If it is far below 1, the interval is based on a
    /// selection of resamples.
    pub share: f64,
}

impl Bootstrap {
    /// Percentile interval of `statistic` over resamples of `blocks` whole blocks. The statistic gets indices of
    /// blocks, some more than once, and may have no value for them.
    ///
    /// Returns `None` for fewer than two blocks, a `level` outside 0 to 1, no resamples, a value that is not finite,
    /// and if no resample has a value.
    pub fn over_blocks(
        &self,
        blocks: usize,
        statistic: impl Fn(&[usize]) -> Option<f64>,
    ) -> Option<BlockInterval> {
        let drawn = self.draws(blocks, statistic)?;
        let values: Vec<f64> = drawn.iter().flatten().copied().collect();
        let sorted = ascending(&values)?;
        let tail = self.tail_probability();
        #[allow(clippy::cast_precision_loss, reason = "at most a u32")]
        let share = sorted.len() as f64 / drawn.len() as f64;
        Some(BlockInterval { interval: quantile_interval(&sorted, tail, 1.0 - tail)?, share })
    }

    /// Like [`Bootstrap::over_blocks`], bias-corrected and accelerated like [`Bootstrap::bca`], with the jackknife over
    /// blocks.
    ///
    /// Returns `None` as for both, and if `statistic` has no value for a resample or for all blocks but one.
    pub fn bca_over_blocks(
        &self,
        blocks: usize,
        statistic: impl Fn(&[usize]) -> Option<f64>,
    ) -> Option<Interval> {
        let drawn: Option<Vec<f64>> = self.draws(blocks, &statistic)?.into_iter().collect();
        let all: Vec<usize> = (0..blocks).collect();
        let left_out: Option<Vec<f64>> =
            (0..blocks).map(|k| statistic(&[&all[..k], &all[k + 1..]].concat())).collect();
        self.bca_from_resamples(&ascending(&drawn?)?, statistic(&all)?, &left_out?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 9] = [3.1, 2.7, 4.4, 3.3, 9.8, 2.9, 3.0, 3.6, 4.1];

    #[allow(clippy::unnecessary_wraps, reason = "what a statistic over blocks returns")]
    fn mean_of(chosen: &[usize]) -> Option<f64> {
        Some(chosen.iter().map(|&k| VALUES[k]).sum::<f64>() / chosen.len() as f64)
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn blocks_of_one_value_are_values() {
        let bootstrap = Bootstrap::default();
        let over = bootstrap.over_blocks(VALUES.len(), mean_of).unwrap();
        assert_eq!(Some(over.interval), bootstrap.percentile(&VALUES, mean));
        assert_eq!(over.share, 1.0);
        let bca = bootstrap.bca_over_blocks(VALUES.len(), mean_of);
        assert_eq!(bca, bootstrap.bca(&VALUES, mean));
    }

    #[test]
    fn resamples_without_a_value_are_counted() {
        let bootstrap = Bootstrap::default();
        let with_first = |chosen: &[usize]| chosen.contains(&0).then_some(1.0);
        let over = bootstrap.over_blocks(2, with_first).unwrap();
        assert!((over.share - 0.75).abs() < 0.04, "{over:?}");
        assert_eq!(bootstrap.bca_over_blocks(2, with_first), None);
        assert_eq!(bootstrap.over_blocks(2, |_| None), None);
        assert_eq!(bootstrap.over_blocks(1, mean_of), None);
        assert_eq!(bootstrap.over_blocks(2, |_| Some(f64::NAN)), None);
    }
}
