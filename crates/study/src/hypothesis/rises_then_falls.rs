//! rises-then-falls: a line of cases has its peak between its ends.

use std::collections::BTreeSet;

use ipcperf_stats::{Alternative, Blocks, Bootstrap, Curve, Peak};

use super::compare::{Sides, Statistic};
use super::comparison::Comparison;
use super::evidence::{EstimateKind, Place};
use super::interval::Sure;
use super::key_values::{KeyError, KeyValues};
use super::keys::{NEGLIGIBLE, STATISTIC};
use super::line::lost_lines;
use super::operands::alone;
use super::picture::Picture;
use super::{Cells, Claim, Estimate, Found, Judge, Line, Part, Point, Test, Verdict, parsed};

pub(super) const TEST: Test = Test {
    name: "rises-then-falls",
    about: "each line rises up to a level between its ends, and then falls",
    formula: "The level of the peak is chosen by the medians over every other block, from the first on. On the \
              other blocks the paired Wilcoxon test, one-sided, of the smallest level below the peak and of the \
              largest below it. Supported where the peak is inner and both p lie below the level (level/m, for m \
              lines, where `need` is below 1). Rejected where one of the ends lies below no inner level by more \
              than is negligible: the 1 - level/m interval of its ratio (t on logarithms of paired ratios, all \
              blocks) says so of each of them.",
    assumptions: "Blocks are independent. Both tests of a line must hold to support it, and all intervals to reject \
                  it, so neither is corrected for the other (Berger 1982); either end rejects, each with one side \
                  of its intervals, which is half of the level. One line suffices to reject the claim: level/m.",
    source: "Wilcoxon 1945, Biometrics Bulletin 1; Berger 1982, Technometrics 24 (intersection of tests)",
    keys: &[STATISTIC, NEGLIGIBLE],
    picture: Picture::PEAKS,
    parse: parsed::<RisesThenFallsKeys>,
};

/// Keys of rises-then-falls.
#[derive(Debug)]
struct RisesThenFallsKeys {
    comparison: Comparison,
}

impl Judge for RisesThenFallsKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self { comparison: Comparison::parse(keys)? })
    }

    fn find(&self, claim: &Claim, cells: &Cells<'_>) -> Found {
        let least = (3, "a line of three levels or more has an inside");
        by_peak(claim, cells, least, |line, peak, unit, sure| {
            held(self.comparison, (line, peak), [unit, claim.over_unit()], sure)
        })
    }
}

/// Applies `held` to each line of `claim` and its peak, which is chosen on the even blocks. Lines with fewer than
/// `least` levels cannot be judged, for the given `reason`.
pub(super) fn by_peak<'a>(
    claim: &Claim,
    cells: &Cells<'a>,
    (least, reason): (usize, &str),
    held: impl Fn(&Line<'a>, &Peak, &str, Sure) -> Part,
) -> Found {
    let lines = match alone(claim, cells, claim.metric()) {
        Ok(lines) => lines,
        Err(found) => return *found,
    };
    let unit = claim.metric().unit(lines.iter().find_map(|line| line.example)).to_owned();
    let sure = Sure::of(claim, lines.len(), claim.level());
    let lost = lost_lines(cells, claim.cases(), claim.over());
    let part = |line: &Line<'a>| {
        if let Some(end) = lost_end(line, &lost) {
            let reason = format!("no run at {end}, an end of the line, counts: measure it again");
            return Part::untestable(Place::line(&line.name), reason);
        }
        if line.points.len() < least {
            return Part::untestable(Place::line(&line.name), reason);
        }
        let curve = line.curve().map_err(|why| why.to_string());
        let peak = |curve: Curve| curve.peak(Blocks::Even, &Bootstrap::default());
        match curve.and_then(|curve| peak(curve).map_err(|why| why.to_string())) {
            Err(why) => Part::untestable(Place::line(&line.name), why),
            Ok(peak) => held(line, &peak, &unit, sure),
        }
    };
    Found::of(lines.iter().map(part).collect(), claim.need())
}

/// Returns a level beyond the ends of `line` that has no valid run. Such a line does not end where it appears to.
fn lost_end<'l>(line: &Line<'_>, lost: &'l [Line<'_>]) -> Option<&'l str> {
    let (first, last) = (line.points.first()?.x, line.points.last()?.x);
    let lost = lost.iter().filter(|lost| line.is_beside(lost, &BTreeSet::new()));
    let mut beyond =
        lost.flat_map(|lost| &lost.points).filter(|gone| gone.x < first || gone.x > last);
    beyond.next().map(|gone| gone.label.as_str())
}

/// Compares the peak with both ends, on the blocks that did not choose it.
fn held(
    comparison: Comparison,
    (line, peak): (&Line<'_>, &Peak),
    [unit, over_unit]: [&str; 2],
    sure: Sure,
) -> Part {
    let top = &line.points[peak.index];
    let ends = [&line.points[0], &line.points[line.points.len() - 1]];
    let odd = odd_blocks(line);
    let step = |end| (only(end, &odd), only(top, &odd));
    let results = ends.map(|end| Step::of(comparison.statistic, &step(end), sure.supports));
    let mut part = Part::new(Place::line(&line.name), results[0].n.min(results[1].n));
    part.unit = unit.to_owned();
    part.medians = ipcperf_stats::median(&top.all()).into_iter().collect();
    part.estimates.push(place(peak, over_unit));
    let kinds = [EstimateKind::SmallestOverPeak, EstimateKind::LargestOverPeak];
    for (step, kind) in results.iter().zip(kinds) {
        part.estimates.extend(step.ratio.clone().map(|ratio| ratio.with_kind(kind)));
    }
    part.p = results[0].p.zip(results[1].p).map(|(one, other)| one.max(other));
    part.p_corrected = part.p;
    part.series = ends.iter().map(|end| Sides::of(end, top).series()).collect();
    let is_refuted = ends.iter().any(|end| is_nowhere_below(comparison, end, line, sure.rejects));
    part.verdict = verdict(peak, &results, is_refuted);
    part
}

/// Returns the blocks that do not choose the peak.
pub(super) fn odd_blocks(line: &Line<'_>) -> BTreeSet<u32> {
    line.blocks().into_iter().skip(1).step_by(2).collect()
}

/// Whether `end` is below no inner level of `line` by more than is negligible, by intervals with error probability
/// `miss`.
pub(super) fn is_nowhere_below(
    comparison: Comparison,
    end: &Point,
    line: &Line<'_>,
    miss: f64,
) -> bool {
    let least = 1.0 / (1.0 + comparison.negligible);
    let last = line.points.len().saturating_sub(1);
    let mut inner = line.points.get(1..last).unwrap_or_default().iter();
    inner.all(|point| {
        let ratio = Sides::of(end, point).ratio(comparison.statistic, 1.0 - miss);
        ratio.and_then(|ratio| ratio.low).is_some_and(|low| low > least)
    })
}

pub(super) fn place(peak: &Peak, unit: &str) -> Estimate {
    let (low, high) = peak.interval.map(|ends| (ends.low, ends.high)).unzip();
    Estimate::new(EstimateKind::PeakAt, peak.level, 0.95).between(low, high).in_unit(unit)
}

/// Returns the values in `blocks`.
pub(super) fn only(point: &Point, blocks: &BTreeSet<u32>) -> Point {
    let values = point.values.iter().filter(|(block, _)| blocks.contains(block));
    Point { values: values.map(|(block, value)| (*block, *value)).collect(), ..point.clone() }
}

/// Comparison of an end of the line with its peak or with the other end.
pub(super) struct Step {
    /// Number of pairs.
    pub(super) n: usize,
    /// One-sided p-value of the end being lower.
    pub(super) p: Option<f64>,
    pub(super) ratio: Option<Estimate>,
    pub(super) is_below: bool,
    /// Number of tested blocks at which the end would be shown to be lower.
    pub(super) shows_at: Option<usize>,
}

impl Step {
    /// Tests whether `end` is below `other`, with p below `level`.
    pub(super) fn of(statistic: Statistic, (end, other): &(Point, Point), level: f64) -> Self {
        let sides = &Sides::of(end, other);
        let p = statistic.test(sides, Alternative::Less).ok().map(|tested| tested.p_value);
        let effect = sides.hedges(statistic, 0.95).map(|g| g.value).filter(|g| *g < 0.0);
        Self {
            n: sides.n(statistic),
            is_below: p.is_some_and(|p| p < level),
            shows_at: effect.and_then(|g| statistic.needed(g, level, Alternative::Greater)),
            ratio: sides.ratio(statistic, 0.95),
            p,
        }
    }
}

impl Step {
    /// Returns an inconclusive verdict. The number of blocks is doubled, because half of them choose the peak.
    pub(super) fn open(&self) -> Verdict {
        let needed = self.shows_at.map(|needed| 2 * needed as u64);
        Verdict::open(needed, self.ratio.as_ref().map(|ratio| ratio.obstacle(1.0)))
    }
}

fn verdict(peak: &Peak, steps: &[Step; 2], is_refuted: bool) -> Verdict {
    if peak.is_inner && steps.iter().all(|step| step.is_below) {
        Verdict::Supported
    } else if is_refuted {
        Verdict::Rejected
    } else {
        let [one, other] = steps;
        let worst = if one.shows_at > other.shows_at { one } else { other };
        match one.shows_at.zip(other.shows_at) {
            Some(_) if peak.is_inner => worst.open(),
            _ => Verdict::UNKNOWN,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::made;

    const KEYS: &str = "test = \"rises-then-falls\"\nwhere = { mechanism = \"pipe\" }\n";

    #[test]
    fn a_peak_inside_is_supported_and_at_an_end_rejected() {
        let of = |values: &[f64; 5]| made(12, 0.02, &[("pipe", values)]).word(KEYS);
        assert_eq!(of(&[1.0, 1.5, 2.0, 1.5, 1.0]), "supported");
        assert_eq!(of(&[1.0, 1.5, 2.0, 2.5, 3.0]), "rejected");
        assert_eq!(of(&[3.0, 2.5, 2.0, 1.5, 1.0]), "rejected");
        assert_eq!(of(&[1.0, 1.5, 2.0, 2.0, 2.0]), "inconclusive");
    }

    #[test]
    fn the_peak_is_not_tested_on_the_blocks_that_chose_it() {
        let made = made(12, 0.02, &[("pipe", &[1.0, 1.5, 2.0, 1.5, 1.0])]);
        // Blocks 1, 3, 5 and so on choose the peak. Without the others no block is left to test it; without these,
        // every other one of the remaining blocks tests it.
        assert_eq!(made.found(KEYS).parts[0].n, 6);
        let wrong_way = made.without(|_, level, block| block % 2 == 0 && level == 4);
        assert_eq!(wrong_way.found(KEYS).parts[0].n, 0);
        assert_eq!(wrong_way.word(KEYS), "inconclusive");
    }

    #[test]
    fn two_levels_have_no_inside_and_few_blocks_say_nothing() {
        assert_eq!(made(12, 0.02, &[("pipe", &[1.0, 2.0])]).word(KEYS), "not testable here");
        for blocks in [1, 2, 5] {
            let few = made(blocks, 0.02, &[("pipe", &[1.0, 2.0, 1.0])]);
            assert_eq!(few.word(KEYS), "inconclusive", "{blocks}");
        }
        assert_eq!(made(8, 0.02, &[("pipe", &[1.0, 2.0, 1.0])]).repetitions(KEYS), Some(10));
    }
}
