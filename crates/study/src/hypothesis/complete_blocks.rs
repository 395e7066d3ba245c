//! Complete blocks, for numbers computed from several levels: every block must contain the same levels.
//!
//! A mean, slope or shape over levels changes if a level is missing. Therefore only blocks that have all levels count.
//! A level that is missing from more than half of the blocks was hardly measured and is left out instead. No other
//! level is dropped to save blocks, so that the meaning of a claim does not depend on which runs were disturbed.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// Levels from which a single number of a part is computed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AggregatedLevels {
    /// Factor that the levels belong to.
    pub over: String,
    /// Levels that count.
    pub used: Vec<String>,
    /// Levels left out because fewer than half of the blocks have them.
    pub left_out: Vec<String>,
    /// Number of blocks left out because they lack a level that counts.
    pub incomplete_blocks: usize,
    /// Counted levels that contradict the claim about all of them, with their ratios.
    pub disagreeing: Vec<LevelRatio>,
    /// Whether the number is a mean over the levels.
    #[serde(skip)]
    is_averaged: bool,
}

/// Ratio of two lines at one level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelRatio {
    /// Label of the level.
    pub level: String,
    /// Ratio at the level.
    pub ratio: f64,
}

impl AggregatedLevels {
    /// Marks the levels as averaged; the claim does not hold at those in `disagreeing`.
    pub(super) fn averaged(self, disagreeing: Vec<LevelRatio>) -> Self {
        Self { is_averaged: true, disagreeing, ..self }
    }

    /// Whether the number is a mean over more than one level.
    pub(super) fn is_mean(&self) -> bool {
        self.is_averaged && self.used.len() > 1
    }

    /// Returns the plural noun for the levels.
    pub(super) fn level_noun(&self) -> &'static str {
        if self.over == "buffer" { "sizes" } else { "levels" }
    }

    /// Describes what is left out, if anything.
    pub(super) fn omissions(&self) -> Option<String> {
        let levels = match self.left_out.as_slice() {
            [] => None,
            levels => {
                Some(format!("without {}, which are missing in most blocks", levels.join(", ")))
            }
        };
        let blocks = match self.incomplete_blocks {
            0 => None,
            1 => Some("1 incomplete block excluded".to_owned()),
            n => Some(format!("{n} incomplete blocks excluded")),
        };
        let words: Vec<String> = levels.into_iter().chain(blocks).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }
}

/// Chooses the counted levels of the factor `over`, and the blocks that have all of them. `levels` lists each level
/// with the blocks that have it.
pub(super) fn complete_blocks(
    over: &str,
    levels: &[(&str, BTreeSet<u32>)],
) -> (AggregatedLevels, BTreeSet<u32>) {
    let all: BTreeSet<u32> = levels.iter().flat_map(|(_, blocks)| blocks).copied().collect();
    let is_measured = |blocks: &BTreeSet<u32>| 2 * blocks.len() >= all.len();
    let names = |is_used: bool| -> Vec<String> {
        let matching = levels.iter().filter(|(_, blocks)| is_measured(blocks) == is_used);
        matching.map(|(name, _)| (*name).to_owned()).collect()
    };
    let used: Vec<&BTreeSet<u32>> =
        levels.iter().map(|(_, blocks)| blocks).filter(|blocks| is_measured(blocks)).collect();
    let has_all =
        |block: &u32| !used.is_empty() && used.iter().all(|blocks| blocks.contains(block));
    let blocks: BTreeSet<u32> = all.iter().copied().filter(has_all).collect();
    let chosen = AggregatedLevels {
        over: over.to_owned(),
        used: names(true),
        left_out: names(false),
        incomplete_blocks: all.len() - blocks.len(),
        ..AggregatedLevels::default()
    };
    (chosen, blocks)
}

/// Returns the values of `of` in `blocks`.
pub(super) fn restrict_to_blocks(
    values: &BTreeMap<u32, f64>,
    blocks: &BTreeSet<u32>,
) -> BTreeMap<u32, f64> {
    values
        .iter()
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
        let (chosen, blocks) = complete_blocks("buffer", &levels);
        assert_eq!((chosen.used.len(), &chosen.left_out[..]), (2, &["c".to_owned()][..]));
        assert_eq!((chosen.incomplete_blocks, blocks.len()), (3, 7));
        let (chosen, blocks) = complete_blocks("buffer", &[("a", BTreeSet::new())]);
        assert_eq!((chosen.incomplete_blocks, blocks.len()), (0, 0));
    }
}
