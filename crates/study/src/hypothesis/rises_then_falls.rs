//! rises-then-falls: a line of cases has its peak between its ends.

use std::collections::BTreeSet;

use ipcperf_stats::{Alternative, BlockSelection, Bootstrap, Curve, Peak};

use super::compare::{SamplePair, Statistic};
use super::comparison_keys::ComparisonKeys;
use super::evidence::{EstimateKind, PartScope};
use super::figure_layout::FigureLayout;
use super::interval::Alphas;
use super::key_values::{KeyError, KeyValues};
use super::line::lost_lines;
use super::operands::claim_lines;
use super::shared_keys::{NEGLIGIBLE, STATISTIC};
use super::{
    Cells, Claim, Estimate, Findings, Judge, Line, Part, Point, Test, Verdict, parse_keys,
};

pub(super) const TEST: Test = Test {
    name: "rises-then-falls",
    about: "each line rises up to a level between its ends, and then falls",
    estimate: "The blocks are split in two. The first, third, fifth block and so on select the peak: the level \
               with the highest median over these blocks. The other blocks are used for two one-sided tests: \
               paired Wilcoxon tests, or the tests that `statistic` names. One test compares the smallest level \
               with the peak, and the other compares the largest level with the peak. The smallest and the largest \
               level are the ends of the line. In addition, the value at each level between the ends is divided by \
               the value at each end. The intervals of these ratios are computed from all blocks, by Student's t \
               on the logarithms of the paired ratios.",
    supported_if: "the peak is not at an end, and the value at each end is lower than at the peak, with p below \
                   alpha. If `min_fraction` is below 1, alpha/m replaces alpha.",
    rejected_if: "the line does not rise above one of its ends by more than `negligible`. This is shown by the 1 - \
                  alpha/m intervals of the ratios to the value at this end: at each level between the ends, the \
                  interval lies below 1 + `negligible`.",
    assumptions: "Blocks are independent. Within a line, no correction is made: both tests must succeed to support the \
                  line, and the intervals at all levels must agree to reject it (Berger 1982). One of the two ends is \
                  enough to reject a line. This choice needs no correction, because only the upper limit of each \
                  interval is used, and this limit has half of the interval's error probability. One line is enough to \
                  reject the claim, so rejection uses alpha/m.",
    source: "Wilcoxon 1945, Biometrics Bulletin 1; Berger 1982, Technometrics 24 (intersection-union \
             test)",
    keys: &[STATISTIC, NEGLIGIBLE],
    figure_layout: FigureLayout::PEAKS,
    parse: parse_keys::<RisesThenFallsKeys>,
};

/// Keys of rises-then-falls.
#[derive(Debug)]
struct RisesThenFallsKeys {
    comparison: ComparisonKeys,
}

impl Judge for RisesThenFallsKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self { comparison: ComparisonKeys::parse(keys)? })
    }

    fn evaluate(&self, claim: &Claim, cells: &Cells<'_>) -> Findings {
        let min_levels = (3, "a line needs at least three levels");
        judge_by_peak(claim, cells, min_levels, |line, peak, unit, alphas| {
            judge_line(self.comparison, (line, peak), [unit, claim.over_unit()], alphas)
        })
    }
}

/// Applies `judge_line` to each line of `claim` and its peak, which is chosen on the even blocks. Lines with fewer than
/// `least` levels cannot be judged, for the given `reason`.
pub(super) fn judge_by_peak<'a>(
    claim: &Claim,
    cells: &Cells<'a>,
    (min_levels, reason): (usize, &str),
    judge_line: impl Fn(&Line<'a>, &Peak, &str, Alphas) -> Part,
) -> Findings {
    let lines = match claim_lines(claim, cells, claim.metric()) {
        Ok(lines) => lines,
        Err(found) => return *found,
    };
    let unit = claim.metric().unit(lines.iter().find_map(|line| line.example)).to_owned();
    let alphas = Alphas::new(claim, lines.len(), claim.alpha());
    let lost = lost_lines(cells, claim.cases(), claim.over());
    let part = |line: &Line<'a>| {
        if let Some(end) = lost_end(line, &lost) {
            let reason =
                format!("there is no valid run at {end}, an end of the line: measure it again");
            return Part::untestable(PartScope::from_line(&line.name), reason);
        }
        if line.points.len() < min_levels {
            return Part::untestable(PartScope::from_line(&line.name), reason);
        }
        let curve = line.curve().map_err(|why| why.to_string());
        let peak = |curve: Curve| curve.peak(BlockSelection::Even, &Bootstrap::default());
        match curve.and_then(|curve| peak(curve).map_err(|why| why.to_string())) {
            Err(why) => Part::untestable(PartScope::from_line(&line.name), why),
            Ok(peak) => judge_line(line, &peak, &unit, alphas),
        }
    };
    Findings::from_parts(lines.iter().map(part).collect(), claim.min_fraction())
}

/// Returns a level beyond the ends of `line` that has no valid run. Such a line does not end where it appears to.
fn lost_end<'l>(line: &Line<'_>, lost: &'l [Line<'_>]) -> Option<&'l str> {
    let (first, last) = (line.points.first()?.x, line.points.last()?.x);
    let lost = lost.iter().filter(|lost| line.matches_except(lost, &BTreeSet::new()));
    let mut beyond =
        lost.flat_map(|lost| &lost.points).filter(|gone| gone.x < first || gone.x > last);
    beyond.next().map(|gone| gone.label.as_str())
}

/// Compares the peak with both ends, on the blocks that did not choose it.
fn judge_line(
    comparison: ComparisonKeys,
    (line, peak): (&Line<'_>, &Peak),
    [unit, over_unit]: [&str; 2],
    alphas: Alphas,
) -> Part {
    let top = &line.points[peak.index];
    let ends = [&line.points[0], &line.points[line.points.len() - 1]];
    let odd = odd_blocks(line);
    let step = |end| (restrict_point(end, &odd), restrict_point(top, &odd));
    let results =
        ends.map(|end| EndComparison::new(comparison.statistic, &step(end), alphas.support));
    let mut part = Part::new(PartScope::from_line(&line.name), results[0].n.min(results[1].n));
    part.unit = unit.to_owned();
    part.medians = ipcperf_stats::median(&top.all_values()).into_iter().collect();
    part.estimates.push(peak_estimate(peak, over_unit));
    let kinds = [EstimateKind::SmallestOverPeak, EstimateKind::LargestOverPeak];
    for (step, kind) in results.iter().zip(kinds) {
        part.estimates.extend(step.ratio.clone().map(|ratio| ratio.with_kind(kind)));
    }
    part.p = results[0].p.zip(results[1].p).map(|(one, other)| one.max(other));
    part.p_corrected = part.p;
    part.series = ends.iter().map(|end| SamplePair::from_points(end, top).series()).collect();
    let is_refuted = ends.iter().any(|end| is_nowhere_below(comparison, end, line, alphas.reject));
    part.verdict = verdict(peak, &results, is_refuted);
    part
}

/// Returns the blocks that do not choose the peak.
pub(super) fn odd_blocks(line: &Line<'_>) -> BTreeSet<u32> {
    line.blocks().into_iter().skip(1).step_by(2).collect()
}

/// Whether `end` is below no inner level of `line` by more than is negligible, by intervals with error probability
/// `alpha`.
pub(super) fn is_nowhere_below(
    comparison: ComparisonKeys,
    end: &Point,
    line: &Line<'_>,
    alpha: f64,
) -> bool {
    let min_ratio = 1.0 / (1.0 + comparison.negligible);
    let last = line.points.len().saturating_sub(1);
    let mut inner = line.points.get(1..last).unwrap_or_default().iter();
    inner.all(|point| {
        let ratio = SamplePair::from_points(end, point).ratio(comparison.statistic, 1.0 - alpha);
        ratio.and_then(|ratio| ratio.low).is_some_and(|low| low > min_ratio)
    })
}

pub(super) fn peak_estimate(peak: &Peak, unit: &str) -> Estimate {
    let (low, high) = peak.interval.map(|ends| (ends.low, ends.high)).unzip();
    Estimate::new(EstimateKind::PeakAt, peak.level, 0.95).with_interval(low, high).with_unit(unit)
}

/// Returns the values in `blocks`.
pub(super) fn restrict_point(point: &Point, blocks: &BTreeSet<u32>) -> Point {
    let values = point.values.iter().filter(|(block, _)| blocks.contains(block));
    Point { values: values.map(|(block, value)| (*block, *value)).collect(), ..point.clone() }
}

/// Comparison of an end of the line with its peak or with the other end.
pub(super) struct EndComparison {
    /// Number of pairs.
    pub(super) n: usize,
    /// One-sided p-value of the end being lower.
    pub(super) p: Option<f64>,
    pub(super) ratio: Option<Estimate>,
    pub(super) is_below: bool,
    /// Number of tested blocks at which the end would be shown to be lower.
    pub(super) needed_blocks: Option<usize>,
}

impl EndComparison {
    /// Tests whether `end` is below `other`, with p below `alpha`.
    pub(super) fn new(statistic: Statistic, (end, other): &(Point, Point), alpha: f64) -> Self {
        let sides = &SamplePair::from_points(end, other);
        let p = statistic.test(sides, Alternative::Less).ok().map(|tested| tested.p_value);
        let effect = sides.hedges_g(statistic, 0.95).map(|g| g.value).filter(|g| *g < 0.0);
        Self {
            n: sides.n(statistic),
            is_below: p.is_some_and(|p| p < alpha),
            needed_blocks: effect
                .and_then(|g| statistic.needed_repetitions(g, alpha, Alternative::Greater)),
            ratio: sides.ratio(statistic, 0.95),
            p,
        }
    }
}

impl EndComparison {
    /// Returns an inconclusive verdict. The number of blocks is doubled, because half of them choose the peak.
    pub(super) fn inconclusive(&self) -> Verdict {
        let needed = self.needed_blocks.map(|needed| 2 * needed as u64);
        Verdict::inconclusive(needed, self.ratio.as_ref().map(|ratio| ratio.obstacle(1.0)))
    }
}

fn verdict(peak: &Peak, steps: &[EndComparison; 2], is_refuted: bool) -> Verdict {
    if peak.is_inner && steps.iter().all(|step| step.is_below) {
        Verdict::Supported
    } else if is_refuted {
        Verdict::Rejected
    } else {
        let [one, other] = steps;
        let harder = if one.needed_blocks > other.needed_blocks { one } else { other };
        match one.needed_blocks.zip(other.needed_blocks) {
            Some(_) if peak.is_inner => harder.inconclusive(),
            _ => Verdict::UNKNOWN,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::synthetic;

    const KEYS: &str = "test = \"rises-then-falls\"\nwhere = { mechanism = \"pipe\" }\n";

    #[test]
    fn a_peak_inside_is_supported_and_at_an_end_rejected() {
        let verdict =
            |values: &[f64; 5]| synthetic(12, 0.02, &[("pipe", values)]).verdict_name(KEYS);
        assert_eq!(verdict(&[1.0, 1.5, 2.0, 1.5, 1.0]), "supported");
        assert_eq!(verdict(&[1.0, 1.5, 2.0, 2.5, 3.0]), "rejected");
        assert_eq!(verdict(&[3.0, 2.5, 2.0, 1.5, 1.0]), "rejected");
        assert_eq!(verdict(&[1.0, 1.5, 2.0, 2.0, 2.0]), "inconclusive");
    }

    #[test]
    fn the_peak_is_not_tested_on_the_blocks_that_chose_it() {
        let data = synthetic(12, 0.02, &[("pipe", &[1.0, 1.5, 2.0, 1.5, 1.0])]);
        // Blocks 1, 3, 5 and so on choose the peak. Without the others no block is left to test it; without these,
        // every other one of the remaining blocks tests it.
        assert_eq!(data.findings(KEYS).parts[0].n, 6);
        let wrong_way = data.without(|_, level, block| block % 2 == 0 && level == 4);
        assert_eq!(wrong_way.findings(KEYS).parts[0].n, 0);
        assert_eq!(wrong_way.verdict_name(KEYS), "inconclusive");
    }

    #[test]
    fn two_levels_have_no_inside_and_few_blocks_say_nothing() {
        assert_eq!(
            synthetic(12, 0.02, &[("pipe", &[1.0, 2.0])]).verdict_name(KEYS),
            "not testable here"
        );
        for blocks in [1, 2, 5] {
            let few = synthetic(blocks, 0.02, &[("pipe", &[1.0, 2.0, 1.0])]);
            assert_eq!(few.verdict_name(KEYS), "inconclusive", "{blocks}");
        }
        assert_eq!(
            synthetic(8, 0.02, &[("pipe", &[1.0, 2.0, 1.0])]).needed_repetitions(KEYS),
            Some(10)
        );
    }
}
