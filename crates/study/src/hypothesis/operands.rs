//! The two lines, or sets of lines, that a claim compares.

use std::collections::{BTreeMap, BTreeSet};

use ipcperf_stats::{Curve, CurveError};

use super::compare::{SamplePair, Statistic};
use super::complete_blocks::{AggregatedLevels, LevelRatio, complete_blocks};
use super::line::{line_name, lines, lost_lines};
use super::operand_cases::{OperandCases, SecondLines};
use super::{Cells, Claim, Findings, Line, Point};
use crate::{Better, Levels, Metric};

/// A line of the first kind and the line of the second kind that it is compared with.
pub(super) struct LinePair<'a> {
    /// Label: `pipe against unix-stream`.
    pub(super) name: String,
    pub(super) first: Line<'a>,
    pub(super) second: Line<'a>,
    /// Factor along which both lines run.
    over: String,
}

/// The comparisons of a claim.
pub(super) struct PairedLines<'a> {
    pub(super) pairs: Vec<LinePair<'a>>,
    pub(super) better: Better,
    pub(super) unit: String,
}

/// Returns the pairs of lines for `claim`: each line of the first of `operands` with each line of the second that
/// shares all other factors.
///
/// # Errors
/// Fails with the reason if there are no pairs.
pub(super) fn pair_lines<'a>(
    claim: &Claim,
    operands: &OperandCases,
    cells: &Cells<'a>,
) -> Result<PairedLines<'a>, Box<Findings>> {
    let metric = claim.metric();
    let [first, second] = operands.sides().map(|side| {
        let selection = claim.cases().intersection(side);
        let lines = lines(cells, &selection, claim.over(), metric);
        if lines.is_empty() {
            Err(Box::new(Findings::untestable(cells.explain_unmeasured(&selection, metric))))
        } else {
            Ok(lines)
        }
    });
    let (mut first, mut second) = (first?, second?);
    let all: Vec<Levels> = first.iter().chain(&second).map(|line| line.levels.clone()).collect();
    for line in first.iter_mut().chain(&mut second) {
        line.name = line_name(&line.levels, &all);
    }
    let example = first.iter().chain(&second).find_map(|line| line.example);
    let (better, unit) = (metric.better(example), metric.unit(example).to_owned());
    let second = match operands.second_lines {
        SecondLines::Best => {
            let selection = claim.cases().intersection(&operands.second);
            let lost = lost_lines(cells, &selection, claim.over());
            let usable = without_lost(join_best(second, better), &lost);
            if usable.is_empty() {
                return Err(Box::new(Findings::untestable(
                    cells.explain_unmeasured(&selection, metric),
                )));
            }
            usable
        }
        SecondLines::Each => second,
    };
    let mut compared_factors = operands.compared_factors();
    compared_factors.extend(disjoint_factors(&first, &second));
    let mut pairs = Vec::new();
    for one in &first {
        for other in second.iter().filter(|other| one.matches_except(other, &compared_factors)) {
            let name = format!("{} vs. {}", one.name, other.name);
            let over = claim.over().to_owned();
            pairs.push(LinePair { name, first: one.clone(), second: other.clone(), over });
        }
    }
    if pairs.is_empty() {
        return Err(Findings::untestable(
            "no line of `first` has a line of `second` to compare it with",
        )
        .into());
    }
    Ok(PairedLines { pairs, better, unit })
}

/// Returns the factors in which `first` and `second` have no level in common. These must be what is compared.
fn disjoint_factors(first: &[Line<'_>], second: &[Line<'_>]) -> Vec<String> {
    let levels = |lines: &[Line<'_>], factor: &str| -> BTreeSet<String> {
        lines.iter().filter_map(|line| line.levels.get(factor).cloned()).collect()
    };
    let factors: BTreeSet<&String> = first.iter().flat_map(|line| line.levels.keys()).collect();
    let is_apart = |factor: &&&String| levels(first, factor).is_disjoint(&levels(second, factor));
    factors.iter().filter(is_apart).map(|factor| (*factor).clone()).collect()
}

/// Returns, at each level and in each block, the best of the `lines` that share everything except the mechanism.
fn join_best(lines: Vec<Line<'_>>, better: Better) -> Vec<Line<'_>> {
    let mut joined: Vec<Line<'_>> = Vec::new();
    let anything = ["mechanism".to_owned()].into();
    for line in lines {
        let Some(merged) = joined.iter_mut().find(|known| known.matches_except(&line, &anything))
        else {
            joined.push(line);
            continue;
        };
        merged.name = format!(
            "the better of {} and {}",
            merged.name.trim_start_matches("the better of "),
            line.name
        );
        *merged = merged.clone().merge_best(&line, better);
        // The next line joined must share the options of all lines joined so far, not only of the first.
        for (factor, level) in line.levels {
            merged.levels.entry(factor).or_insert(level);
        }
    }
    joined
}

/// Removes from `joined` the levels at which a line that could have been the best has no valid run. The best of the
/// remaining lines need not be the best overall.
fn without_lost<'a>(joined: Vec<Line<'a>>, lost: &[Line<'_>]) -> Vec<Line<'a>> {
    let anything = ["mechanism".to_owned()].into();
    let drop_lost = |line: Line<'a>| {
        let lost =
            lost.iter().filter(|lost| line.matches_except(lost, &anything)).collect::<Vec<_>>();
        lost.into_iter().fold(line, Line::without_lost)
    };
    joined.into_iter().map(drop_lost).filter(|line| !line.points.is_empty()).collect()
}

impl<'a> LinePair<'a> {
    /// Returns the geometric mean over levels by block, for the blocks in which both lines have all levels. Also
    /// returns these levels, with those whose ratio satisfies `contradicts`, unless there is only one level.
    pub(super) fn block_means(
        &self,
        contradicts: impl Fn(f64) -> bool,
    ) -> (SamplePair, Option<AggregatedLevels>) {
        let (levels, blocks) = self.complete_blocks();
        let mut logs: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        let used = self.first.common_points(&self.second).into_iter();
        for (first, second) in used.filter(|(point, _)| levels.used.contains(&point.label)) {
            for block in &blocks {
                let sums = logs.entry(*block).or_default();
                *sums = (sums.0 + first.values[block].ln(), sums.1 + second.values[block].ln());
            }
        }
        #[allow(clippy::cast_precision_loss, reason = "a few levels")]
        let n = levels.used.len() as f64;
        let pairs: Vec<(f64, f64)> =
            logs.values().map(|(first, second)| ((first / n).exp(), (second / n).exp())).collect();
        let is_one = levels.used.len() + levels.left_out.len() < 2;
        let disagreeing = self.contradicting_levels(&levels, contradicts);
        let over = levels.averaged(disagreeing);
        (SamplePair::from_pairs(&pairs), (!is_one).then_some(over))
    }

    /// Returns the compared levels, and the blocks in which both lines have positive values at all of them.
    fn complete_blocks(&self) -> (AggregatedLevels, BTreeSet<u32>) {
        let common = self.first.common_points(&self.second);
        let mut levels: Vec<(&str, BTreeSet<u32>)> = common
            .into_iter()
            .map(|(first, second)| {
                let is_positive = |point: &Point, block: &u32| {
                    point.values.get(block).is_some_and(|value| *value > 0.0)
                };
                let has_both =
                    |block: &&u32| is_positive(first, block) && is_positive(second, block);
                (first.label.as_str(), first.values.keys().filter(has_both).copied().collect())
            })
            .collect();
        levels.extend(
            self.unpaired().into_iter().map(|point| (point.label.as_str(), BTreeSet::new())),
        );
        complete_blocks(&self.over, &levels)
    }

    /// Returns the counted `levels` whose ratio satisfies `contradicts`.
    fn contradicting_levels(
        &self,
        levels: &AggregatedLevels,
        contradicts: impl Fn(f64) -> bool,
    ) -> Vec<LevelRatio> {
        let ratio = |(point, sides): (&Point, SamplePair)| {
            let ratio = sides.ratio(Statistic::Wilcoxon, 0.95)?.value;
            let is_one = levels.used.contains(&point.label) && contradicts(ratio);
            is_one.then(|| LevelRatio { level: point.label.clone(), ratio })
        };
        self.samples_by_level().into_iter().filter_map(ratio).collect()
    }

    /// Returns the complete part of the pair: the compared levels, in the blocks that have all of them.
    pub(super) fn complete_part(&self) -> (Self, AggregatedLevels) {
        let (levels, blocks) = self.complete_blocks();
        let whole = |line: &Line<'a>| line.restricted_to(&levels.used, &blocks);
        let pair = Self {
            name: self.name.clone(),
            first: whole(&self.first),
            second: whole(&self.second),
            over: self.over.clone(),
        };
        (pair, levels)
    }

    /// Returns both lines as curves with the same blocks in each row. A block that one line lacks is missing there and
    /// shifts no other.
    ///
    /// # Errors
    /// Fails if one of the lines does not form a curve.
    pub(super) fn curves(&self) -> Result<(Curve, Curve), CurveError> {
        let blocks = self.first.blocks().union(&self.second.blocks()).copied().collect();
        Ok((self.first.curve_over(&blocks)?, self.second.curve_over(&blocks)?))
    }

    /// Returns the levels that only one line has.
    pub(super) fn unpaired(&self) -> Vec<&Point> {
        let lacks = |line: &Line<'_>, point: &Point| {
            !line.points.iter().any(|other| other.x.total_cmp(&point.x).is_eq())
        };
        let first = self.first.points.iter().filter(|point| lacks(&self.second, point));
        first.chain(self.second.points.iter().filter(|point| lacks(&self.first, point))).collect()
    }

    /// Returns the values of both lines at each common level.
    pub(super) fn samples_by_level(&self) -> Vec<(&Point, SamplePair)> {
        let common = self.first.common_points(&self.second);
        common
            .into_iter()
            .map(|(first, second)| (first, SamplePair::from_points(first, second)))
            .collect()
    }
}

/// Returns the lines for `claim`, for tests that judge each line by itself.
///
/// # Errors
/// Fails with the reason if there are no lines.
pub(super) fn claim_lines<'a>(
    claim: &Claim,
    cells: &Cells<'a>,
    metric: &Metric,
) -> Result<Vec<Line<'a>>, Box<Findings>> {
    let lines = lines(cells, claim.cases(), claim.over(), metric);
    if lines.is_empty() {
        return Err(Findings::untestable(cells.explain_unmeasured(claim.cases(), metric)).into());
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
        let line_with = |mechanism: &str, values: &[(u32, f64)]| {
            let values = values.iter().copied().collect();
            let point = Point { x: 1.0, is_number: true, label: "1 B".to_owned(), values };
            Line { points: vec![point], ..line(mechanism, "same") }
        };
        let copy = line_with("copy", &[(1, 5.0), (2, 5.0), (3, 5.0)]);
        let joined = join_best(
            vec![copy, line_with("memfd", &[(2, 4.0), (3, 6.0), (4, 1.0)])],
            Better::Higher,
        );
        let [line] = &joined[..] else { panic!("one line") };
        assert_eq!(line.points[0].values, [(2, 5.0), (3, 6.0)].into());
    }

    #[test]
    fn the_best_is_of_lines_that_share_each_option_with_all_of_them() {
        let lines = [("copy", "one"), ("copy", "other"), ("memfd", "one"), ("memfd", "other")];
        let lines = lines.map(|(mechanism, via)| line(mechanism, via)).to_vec();
        let joined = join_best(lines, Better::Higher);
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
            Point { x: 1.0, is_number: true, label: label.to_owned(), values }
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
            joined[0].name.contains("not at 2 B: memfd same has no valid run there"),
            "{}",
            joined[0].name
        );
        let all = Line { points: vec![point("1 B", &[]), point("2 B", &[])], ..lost };
        assert!(without_lost(vec![copy], &[all]).is_empty());
    }
}
