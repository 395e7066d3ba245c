//! The flat end of a line. The verdict and the reported plateau share one definition: over blocks that have all of its
//! levels, the median of each level divided by the block's geometric mean over these levels.

use std::collections::BTreeSet;

use ipcperf_stats::{Bootstrap, Interval, median};

use super::Point;

/// A line whose end may be flat.
pub(super) struct PlateauSearch<'p> {
    pub(super) points: &'p [Point],
    /// Height to compare levels with, if the claim specifies it.
    pub(super) height: Option<f64>,
    /// Maximum relative deviation from the height.
    pub(super) tolerance: f64,
    /// Minimum number of levels in a plateau.
    pub(super) min_levels: usize,
}

impl PlateauSearch<'_> {
    /// Returns the blocks that have a value.
    pub(super) fn all_blocks(&self) -> Vec<u32> {
        let all: BTreeSet<u32> =
            self.points.iter().flat_map(|point| point.values.keys().copied()).collect();
        all.into_iter().collect()
    }

    /// Returns the blocks that have all levels from index `first` on.
    pub(super) fn blocks_from(&self, first: usize) -> Vec<u32> {
        self.complete_blocks(first, &self.all_blocks())
    }

    fn complete_blocks(&self, first: usize, blocks: &[u32]) -> Vec<u32> {
        let has_all = |block: &u32| {
            let values = self.points[first..].iter().map(|point| point.values.get(block));
            values.into_iter().all(|value| value.is_some_and(|value| *value > 0.0))
        };
        blocks.iter().copied().filter(has_all).collect()
    }

    /// Returns, for each level from index `first` on, the values in `blocks` divided by the height. The blocks must
    /// have all of these levels.
    pub(super) fn relative_to_height(&self, first: usize, blocks: &[u32]) -> Vec<Vec<f64>> {
        let points = &self.points[first..];
        let heights: Vec<f64> = blocks
            .iter()
            .map(|block| self.height.unwrap_or_else(|| mean(points, *block)))
            .collect();
        let at = |point: &Point| {
            let over = |(block, height): (&u32, &f64)| point.values[block] / height;
            let ratios: Vec<f64> = blocks.iter().zip(&heights).map(over).collect();
            ratios.into_iter().filter(|off| off.is_finite()).collect()
        };
        points.iter().map(at).collect()
    }

    /// Whether all levels from index `first` on are within the tolerance in `blocks`.
    fn is_flat(&self, first: usize, blocks: &[u32]) -> bool {
        let whole = self.complete_blocks(first, blocks);
        let is_near = |ratios: &Vec<f64>| {
            median(ratios).is_some_and(|middle| (middle - 1.0).abs() < self.tolerance)
        };
        self.relative_to_height(first, &whole).iter().all(is_near)
    }

    /// Returns the index of the level at which the plateau begins in `blocks`. If the levels from `claimed` on are
    /// flat, adds lower levels as long as all remain flat. Otherwise searches above `claimed`.
    pub(super) fn start_index(&self, claimed: usize, blocks: &[u32]) -> Option<usize> {
        if self.is_flat(claimed, blocks) {
            let below = (0..claimed).rev().take_while(|first| self.is_flat(*first, blocks));
            return Some(below.last().unwrap_or(claimed));
        }
        let last = self.points.len().saturating_sub(self.min_levels);
        (claimed + 1..=last).find(|first| self.is_flat(*first, blocks))
    }

    /// Returns the geometric mean over the levels from index `first` on, by block.
    pub(super) fn heights(&self, first: usize) -> Vec<f64> {
        self.blocks_from(first).iter().map(|block| mean(&self.points[first..], *block)).collect()
    }

    /// Returns the percentile bootstrap interval of the level at which the plateau begins. Blocks are resampled;
    /// resamples without a plateau are ignored. Both ends are levels.
    pub(super) fn start_interval(&self, claimed: usize, bootstrap: &Bootstrap) -> Option<Interval> {
        let blocks = self.all_blocks();
        let start_in = |chosen: &[usize]| {
            let blocks: Vec<u32> = chosen.iter().map(|&place| blocks[place]).collect();
            self.start_index(claimed, &blocks)
        };
        let mut starts: Vec<usize> =
            bootstrap.draws(blocks.len(), start_in)?.into_iter().flatten().collect();
        starts.sort_unstable();
        let tail = (1.0 - bootstrap.level) / 2.0;
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place among resamples"
        )]
        let at = |share: f64| {
            let rank = (share * starts.len() as f64).ceil() as usize;
            starts.get(rank.max(1) - 1).map(|place| self.points[*place].x)
        };
        Some(Interval { low: at(tail)?, high: at(1.0 - tail)? })
    }
}

/// Returns the geometric mean over `points` in a block that has positive values at all of them.
#[allow(clippy::cast_precision_loss, reason = "a few levels")]
fn mean(points: &[Point], block: u32) -> f64 {
    let logs = points.iter().filter_map(|point| point.values.get(&block)).map(|value| value.ln());
    (logs.sum::<f64>() / points.len() as f64).exp()
}
