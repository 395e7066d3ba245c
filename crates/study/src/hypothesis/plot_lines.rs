//! The lines of a claim, for figures.

use super::line::{lines, together};
use super::operands::{Pair, alone, compares};
use super::{Cells, Claim, Line, Together};

/// Lines that share a panel.
pub struct Shown<'a> {
    /// Label of the panel. Empty if the claim has only one.
    pub name: String,
    /// The lines.
    pub lines: Vec<Line<'a>>,
}

/// Returns the lines of `claim`, grouped into panels as its test requires.
pub fn shown<'a>(claim: &Claim, cells: &Cells<'a>) -> Vec<Shown<'a>> {
    if claim.test.picture.together == Together::Pairs {
        return pairs(claim, cells);
    }
    let all = claim.selections().into_iter();
    let all =
        all.flat_map(|selection| lines(cells, &selection, claim.over(), claim.metric())).collect();
    let lines = shares(claim, cells, together(all));
    if lines.is_empty() { Vec::new() } else { vec![Shown { name: String::new(), lines }] }
}

fn pairs<'a>(claim: &Claim, cells: &Cells<'a>) -> Vec<Shown<'a>> {
    let both = claim.operands().map(|operands| compares(claim, operands, cells));
    let Some(Ok(both)) = both else { return Vec::new() };
    let is_one = both.pairs.len() == 1;
    let pair = |pair: Pair<'a>| {
        let is_told_apart = pair.first.name != pair.second.name;
        let lines = vec![pair.first, pair.second];
        let lines = if is_told_apart { lines } else { together(lines) };
        Shown { name: if is_one { String::new() } else { pair.name }, lines }
    };
    both.pairs.into_iter().map(pair).collect()
}

/// Converts `lines` to shares, if the claim names a whole.
fn shares<'a>(claim: &Claim, cells: &Cells<'a>, lines: Vec<Line<'a>>) -> Vec<Line<'a>> {
    let Some(whole) = claim.picture_keys().whole else { return lines };
    let wholes = alone(claim, cells, whole).unwrap_or_default();
    let share =
        |line: Line<'a>| Some(line.over(wholes.iter().find(|whole| whole.levels == line.levels)?));
    lines.into_iter().filter_map(share).collect()
}
