//! The two lines, or sets of lines, that a claim compares.

use std::collections::{BTreeMap, BTreeSet};

use ipcperf_stats::{Curve, CurveError};

use super::compare::Sides;
use super::line::{lines, lost_lines, name};
use super::{Cells, Claim, Found, Line, Point};
use crate::study::{Better, Levels, Metric};

/// A line of the first kind beside one of the second.
pub(super) struct Pair<'a> {
    /// `pipe against unix-stream`.
    pub(super) name: String,
    pub(super) first: Line<'a>,
    pub(super) second: Line<'a>,
}

/// What a claim compares.
pub(super) struct Compares<'a> {
    pub(super) pairs: Vec<Pair<'a>>,
    pub(super) better: Better,
    pub(super) unit: String,
}

/// The pairs of lines that `claim` means: each of `first` beside each of `second` with which it shares all
/// other factors.
///
/// # Errors
/// Why there are none.
pub(super) fn compares<'a>(claim: &Claim, cells: &Cells<'a>) -> Result<Compares<'a>, Found> {
    let metric = claim.metric();
    let [first, second] = ["first", "second"].map(|key| {
        let selection = claim.cases(key);
        let lines = lines(cells, &selection, claim.over(), &metric);
        if lines.is_empty() {
            Err(Found::untestable(cells.absence(&selection, &metric)))
        } else {
            Ok(lines)
        }
    });
    let (mut first, mut second) = (first?, second?);
    let all: Vec<Levels> = first.iter().chain(&second).map(|line| line.levels.clone()).collect();
    for line in first.iter_mut().chain(&mut second) {
        line.name = name(&line.levels, &all);
    }
    let example = first.iter().chain(&second).find_map(|line| line.example);
    let (better, unit) = (metric.better(example), metric.unit(example).to_owned());
    let second = match claim.values.word("of_second") {
        Some("best") => {
            let selection = claim.cases("second");
            let lost = lost_lines(cells, &selection, claim.over());
            let known = without_lost(best(second, better), &lost);
            if known.is_empty() {
                return Err(Found::untestable(cells.absence(&selection, &metric)));
            }
            known
        }
        _ => second,
    };
    let mut compared = claim.compared();
    compared.extend(apart(&first, &second));
    let mut pairs = Vec::new();
    for one in &first {
        for other in second.iter().filter(|other| one.is_beside(other, &compared)) {
            let name = format!("{} against {}", one.name, other.name);
            pairs.push(Pair { name, first: one.clone(), second: other.clone() });
        }
    }
    if pairs.is_empty() {
        return Err(Found::untestable("no case of the first has one of the second beside it"));
    }
    Ok(Compares { pairs, better, unit })
}

/// The factors of which no line of `first` has a level that one of `second` has: they must be what is compared.
fn apart(first: &[Line<'_>], second: &[Line<'_>]) -> Vec<String> {
    let levels = |lines: &[Line<'_>], factor: &str| -> BTreeSet<String> {
        lines.iter().filter_map(|line| line.levels.get(factor).cloned()).collect()
    };
    let factors: BTreeSet<&String> = first.iter().flat_map(|line| line.levels.keys()).collect();
    let is_apart = |factor: &&&String| levels(first, factor).is_disjoint(&levels(second, factor));
    factors.iter().filter(is_apart).map(|factor| (*factor).clone()).collect()
}

/// At each level and in each block the best of `lines`, those that share all but their mechanism.
fn best(lines: Vec<Line<'_>>, better: Better) -> Vec<Line<'_>> {
    let mut joined: Vec<Line<'_>> = Vec::new();
    let anything = ["mechanism".to_owned()].into();
    for line in lines {
        let Some(known) = joined.iter_mut().find(|known| known.is_beside(&line, &anything)) else {
            joined.push(line);
            continue;
        };
        known.name = format!(
            "the better of {} and {}",
            known.name.trim_start_matches("the better of "),
            line.name
        );
        *known = known.clone().or_better(&line, better);
        // What is joined next must share the options of all that were, not of the first alone.
        for (factor, level) in line.levels {
            known.levels.entry(factor).or_insert(level);
        }
    }
    joined
}

/// `joined` without the levels at which a line that could have been the best has no run that counts: the best
/// of the others need not be the best.
fn without_lost<'a>(joined: Vec<Line<'a>>, lost: &[Line<'_>]) -> Vec<Line<'a>> {
    let anything = ["mechanism".to_owned()].into();
    let known = |line: Line<'a>| {
        let lost = lost.iter().filter(|lost| line.is_beside(lost, &anything)).collect::<Vec<_>>();
        lost.into_iter().fold(line, Line::without_lost)
    };
    joined.into_iter().map(known).filter(|line| !line.points.is_empty()).collect()
}

impl Pair<'_> {
    /// By block, the geometric mean over the levels that both have in it.
    pub(super) fn by_block(&self) -> Sides {
        let mut logs: BTreeMap<u32, (f64, f64, f64)> = BTreeMap::new();
        for (first, second) in self.first.common(&self.second) {
            for (block, value) in &first.values {
                let Some(other) = second.values.get(block) else { continue };
                if *value > 0.0 && *other > 0.0 {
                    let sums = logs.entry(*block).or_default();
                    *sums = (sums.0 + value.ln(), sums.1 + other.ln(), sums.2 + 1.0);
                }
            }
        }
        let pairs: Vec<(f64, f64)> = logs
            .values()
            .map(|(first, second, n)| ((first / n).exp(), (second / n).exp()))
            .collect();
        Sides::of_pairs(&pairs)
    }

    /// Both as curves, block beside block: a block that one of them lacks is missing there, and moves no
    /// other.
    ///
    /// # Errors
    /// What keeps one from being a curve.
    pub(super) fn curves(&self) -> Result<(Curve, Curve), CurveError> {
        let blocks = self.first.blocks().union(&self.second.blocks()).copied().collect();
        Ok((self.first.curve_over(&blocks)?, self.second.curve_over(&blocks)?))
    }

    /// The levels that one of them alone has.
    pub(super) fn unpaired(&self) -> Vec<&Point> {
        let lacks = |line: &Line<'_>, point: &Point| {
            !line.points.iter().any(|other| other.x.total_cmp(&point.x).is_eq())
        };
        let first = self.first.points.iter().filter(|point| lacks(&self.second, point));
        first.chain(self.second.points.iter().filter(|point| lacks(&self.first, point))).collect()
    }

    /// By level.
    pub(super) fn by_level(&self) -> Vec<(&Point, Sides)> {
        let common = self.first.common(&self.second);
        common.into_iter().map(|(first, second)| (first, Sides::of(first, second))).collect()
    }
}

/// The lines that `claim` means, each by itself.
///
/// # Errors
/// Why there are none.
pub(super) fn alone<'a>(
    claim: &Claim,
    cells: &Cells<'a>,
    metric: &Metric,
) -> Result<Vec<Line<'a>>, Found> {
    let selection = claim.cases("where");
    let lines = lines(cells, &selection, claim.over(), metric);
    if lines.is_empty() {
        return Err(Found::untestable(cells.absence(&selection, metric)));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(mechanism: &str, via: &str) -> Line<'static> {
        let levels = [("mechanism".to_owned(), mechanism.to_owned())];
        let option = (format!("{mechanism}.via"), via.to_owned());
        Line {
            name: format!("{mechanism} {via}"),
            levels: levels.into_iter().chain([option]).collect(),
            points: Vec::new(),
            example: None,
        }
    }

    #[test]
    fn the_best_is_of_blocks_that_all_have() {
        let of = |mechanism: &str, values: &[(u32, f64)]| {
            let values = values.iter().copied().collect();
            let point = Point { x: 1.0, label: "1 B".to_owned(), values };
            Line { points: vec![point], ..line(mechanism, "same") }
        };
        let copy = of("copy", &[(1, 5.0), (2, 5.0), (3, 5.0)]);
        let joined = best(vec![copy, of("memfd", &[(2, 4.0), (3, 6.0), (4, 1.0)])], Better::Higher);
        let [line] = &joined[..] else { panic!("one line") };
        assert_eq!(line.points[0].values, [(2, 5.0), (3, 6.0)].into());
    }

    #[test]
    fn the_best_is_of_lines_that_share_each_option_with_all_of_them() {
        let lines = [("copy", "one"), ("copy", "other"), ("memfd", "one"), ("memfd", "other")];
        let lines = lines.map(|(mechanism, via)| line(mechanism, via)).to_vec();
        let joined = best(lines, Better::Higher);
        let names: Vec<&str> = joined.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(
            names,
            ["the better of copy one and memfd one", "the better of copy other and memfd other"]
        );
    }

    #[test]
    fn the_best_is_not_known_where_one_has_no_run_that_counts() {
        let point = |label: &str, values: &[(u32, f64)]| {
            let values = values.iter().copied().collect();
            Point { x: 1.0, label: label.to_owned(), values }
        };
        let copy = Line {
            points: vec![point("1 B", &[(1, 5.0)]), point("2 B", &[(1, 5.0)])],
            ..line("copy", "same")
        };
        let lost = Line { points: vec![point("2 B", &[])], ..line("memfd", "same") };
        let joined = without_lost(vec![copy.clone()], std::slice::from_ref(&lost));
        let labels: Vec<&str> = joined[0].points.iter().map(|one| one.label.as_str()).collect();
        assert_eq!(labels, ["1 B"]);
        assert!(
            joined[0].name.contains("not at 2 B: no run of memfd same counts"),
            "{}",
            joined[0].name
        );
        let all = Line { points: vec![point("1 B", &[]), point("2 B", &[])], ..lost };
        assert!(without_lost(vec![copy], &[all]).is_empty());
    }
}
