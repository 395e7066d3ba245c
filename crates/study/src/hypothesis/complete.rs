//! What a number of several levels is of: the same levels in each block.
//!
//! A mean, a slope or a shape over levels is another one where a level is missing. So only blocks that have all
//! levels count. A level that fewer than half of the blocks have is left out instead, for it was hardly measured;
//! beyond that levels are never given up for blocks, so that what a claim is about does not hang on which runs were
//! disturbed.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// The levels that a part is one number of.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OverLevels {
    /// The factor that they are levels of.
    pub over: String,
    /// Those that count.
    pub used: Vec<String>,
    /// Those left out, which fewer than half of the blocks have.
    pub left_out: Vec<String>,
    /// Blocks left out, for they lack one of those that count.
    pub incomplete_blocks: usize,
    /// Those that count at which it is otherwise than the claim says of all of them.
    pub disagreeing: Vec<LevelRatio>,
    /// Whether the number is a mean over them.
    #[serde(skip)]
    mean: bool,
}

/// The ratio of two lines at one level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelRatio {
    /// The level.
    pub level: String,
    /// The ratio there.
    pub ratio: f64,
}

impl OverLevels {
    /// As those of a mean, which is otherwise at some of them.
    pub(super) fn averaged(self, disagreeing: Vec<LevelRatio>) -> Self {
        Self { mean: true, disagreeing, ..self }
    }

    /// Whether it is a mean over more than one level.
    pub(super) fn is_mean(&self) -> bool {
        self.mean && self.used.len() > 1
    }

    /// What the levels are called.
    pub(super) fn what(&self) -> &'static str {
        if self.over == "buffer" { "sizes" } else { "levels" }
    }

    /// What is left out, in words.
    pub(super) fn words(&self) -> Option<String> {
        let levels = match self.left_out.as_slice() {
            [] => None,
            levels => Some(format!("without {}, which most blocks lack", levels.join(", "))),
        };
        let blocks = match self.incomplete_blocks {
            0 => None,
            1 => Some("1 incomplete block left out".to_owned()),
            n => Some(format!("{n} incomplete blocks left out")),
        };
        let words: Vec<String> = levels.into_iter().chain(blocks).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }
}

/// The blocks that have all of `levels` of the factor `over` but those that most lack, each level with the blocks
/// that have it.
pub(super) fn complete(
    over: &str,
    levels: &[(&str, BTreeSet<u32>)],
) -> (OverLevels, BTreeSet<u32>) {
    let all: BTreeSet<u32> = levels.iter().flat_map(|(_, blocks)| blocks).copied().collect();
    let is_measured = |blocks: &BTreeSet<u32>| 2 * blocks.len() >= all.len();
    let names = |is_used: bool| -> Vec<String> {
        let of = levels.iter().filter(|(_, blocks)| is_measured(blocks) == is_used);
        of.map(|(name, _)| (*name).to_owned()).collect()
    };
    let used: Vec<&BTreeSet<u32>> =
        levels.iter().map(|(_, blocks)| blocks).filter(|blocks| is_measured(blocks)).collect();
    let has_all =
        |block: &u32| !used.is_empty() && used.iter().all(|blocks| blocks.contains(block));
    let blocks: BTreeSet<u32> = all.iter().copied().filter(has_all).collect();
    let chosen = OverLevels {
        over: over.to_owned(),
        used: names(true),
        left_out: names(false),
        incomplete_blocks: all.len() - blocks.len(),
        ..OverLevels::default()
    };
    (chosen, blocks)
}

/// The values of `of` in `blocks`.
pub(super) fn within(of: &BTreeMap<u32, f64>, blocks: &BTreeSet<u32>) -> BTreeMap<u32, f64> {
    of.iter()
        .filter(|(block, _)| blocks.contains(block))
        .map(|(block, value)| (*block, *value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_left_out_for_levels_and_levels_only_where_most_blocks_lack_them() {
        let levels = [("a", (0..10).collect()), ("b", (3..10).collect()), ("c", (6..10).collect())];
        let (chosen, blocks) = complete("buffer", &levels);
        assert_eq!((chosen.used.len(), &chosen.left_out[..]), (2, &["c".to_owned()][..]));
        assert_eq!((chosen.incomplete_blocks, blocks.len()), (3, 7));
        let (chosen, blocks) = complete("buffer", &[("a", BTreeSet::new())]);
        assert_eq!((chosen.incomplete_blocks, blocks.len()), (0, 0));
    }
}
