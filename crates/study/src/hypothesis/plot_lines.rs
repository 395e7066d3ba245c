//! The lines of a claim, for figures.

use super::line::{lines, merge_lines};
use super::operands::{LinePair, claim_lines, pair_lines};
use super::{Cells, Claim, Line, PanelGrouping};

/// Lines that share a panel.
pub struct LinePanel<'a> {
    /// Label of the panel. Empty if the claim has only one.
    pub name: String,
    /// The lines.
    pub lines: Vec<Line<'a>>,
}

/// Returns the lines of `claim`, grouped into panels as its test requires.
pub fn line_panels<'a>(claim: &Claim, cells: &Cells<'a>) -> Vec<LinePanel<'a>> {
    if claim.test.figure_layout.panels == PanelGrouping::Pairs {
        return pair_panels(claim, cells);
    }
    let all = claim.selections().into_iter();
    let all =
        all.flat_map(|selection| lines(cells, &selection, claim.over(), claim.metric())).collect();
    let lines = to_shares(claim, cells, merge_lines(all));
    if lines.is_empty() { Vec::new() } else { vec![LinePanel { name: String::new(), lines }] }
}

fn pair_panels<'a>(claim: &Claim, cells: &Cells<'a>) -> Vec<LinePanel<'a>> {
    let both = claim.operands().map(|operands| pair_lines(claim, operands, cells));
    let Some(Ok(both)) = both else { return Vec::new() };
    let is_one = both.pairs.len() == 1;
    let pair = |pair: LinePair<'a>| {
        let has_distinct_names = pair.first.name != pair.second.name;
        let lines = vec![pair.first, pair.second];
        let lines = if has_distinct_names { lines } else { merge_lines(lines) };
        LinePanel { name: if is_one { String::new() } else { pair.name }, lines }
    };
    both.pairs.into_iter().map(pair).collect()
}

/// Converts `lines` to shares, if the claim names a whole.
fn to_shares<'a>(claim: &Claim, cells: &Cells<'a>, lines: Vec<Line<'a>>) -> Vec<Line<'a>> {
    let Some(whole) = claim.figure_keys().whole else { return lines };
    let wholes = claim_lines(claim, cells, whole).unwrap_or_default();
    let share = |line: Line<'a>| {
        Some(line.divided_by(wholes.iter().find(|whole| whole.levels == line.levels)?))
    };
    lines.into_iter().filter_map(share).collect()
}
