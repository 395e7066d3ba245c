//! rises: a line of cases is highest at its largest level.

use ipcperf_stats::Peak;

use super::compare::SamplePair;
use super::comparison_keys::ComparisonKeys;
use super::evidence::{EstimateKind, PartScope};
use super::figure_layout::FigureLayout;
use super::interval::Alphas;
use super::key_values::{KeyError, KeyValues};
use super::rises_then_falls::{
    EndComparison, is_nowhere_below, judge_by_peak, odd_blocks, peak_estimate, restrict_point,
};
use super::shared_keys::{NEGLIGIBLE, STATISTIC};
use super::{Cells, Claim, Findings, Judge, Line, Part, Test, Verdict, parse_keys};

pub(super) const TEST: Test = Test {
    name: "rises",
    about: "each line rises, and is highest at its largest level",
    estimate: "The blocks are split in two. The first, third, fifth block and so on select the peak: the level \
               with the highest median over these blocks. The other blocks are used for two one-sided tests: \
               paired Wilcoxon tests, or the tests that `statistic` names. One test compares the largest level \
               with the peak. The other test compares the smallest level with the largest. In addition, the value \
               at each level between the smallest and the largest is divided by the value at the largest level. \
               The interval of this ratio is computed from all blocks, by Student's t on the logarithms of the \
               paired ratios.",
    supported_if: "two conditions hold. The value at the smallest level is lower than at the largest level, with p \
                   below alpha. At each level between these two, the 1 - alpha interval of the ratio ends below 1 \
                   + `negligible`. If `min_fraction` is below 1, alpha/m replaces alpha.",
    rejected_if: "the value at the largest level is lower than at the peak, with p below alpha/m.",
    assumptions: "Blocks are independent. Within a line, no p-value is corrected, for two reasons: both conditions \
                  must hold to support a line (Berger 1982), and the peak is tested on blocks that did not select \
                  it. If all lines must be supported, each line is tested at alpha. One line is then enough to \
                  reject the claim, so rejection uses alpha/m.",
    source: "Wilcoxon 1945, Biometrics Bulletin 1; Berger 1982, Technometrics 24 (intersection-union \
             test)",
    keys: &[STATISTIC, NEGLIGIBLE],
    figure_layout: FigureLayout::PEAKS,
    parse: parse_keys::<RisesKeys>,
};

/// Keys of rises.
#[derive(Debug)]
struct RisesKeys {
    comparison: ComparisonKeys,
}

impl Judge for RisesKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self { comparison: ComparisonKeys::parse(keys)? })
    }

    fn evaluate(&self, claim: &Claim, cells: &Cells<'_>) -> Findings {
        let min_levels = (2, "a line with one level neither rises nor falls");
        judge_by_peak(claim, cells, min_levels, |line, peak, unit, alphas| {
            judge_line(self.comparison, (line, peak), [unit, claim.over_unit()], alphas)
        })
    }
}

/// Compares the largest level with the peak and with the smallest level, on the blocks that did not choose the peak.
fn judge_line(
    comparison: ComparisonKeys,
    (line, peak): (&Line<'_>, &Peak),
    [unit, over_unit]: [&str; 2],
    alphas: Alphas,
) -> Part {
    let last = line.points.len() - 1;
    let (top, largest, smallest) = (&line.points[peak.index], &line.points[last], &line.points[0]);
    let odd = odd_blocks(line);
    let step = |low, high, level| {
        EndComparison::new(
            comparison.statistic,
            &(restrict_point(low, &odd), restrict_point(high, &odd)),
            level,
        )
    };
    let fall = (peak.index != last).then(|| step(largest, top, alphas.reject));
    let rise = step(smallest, largest, alphas.support);
    let mut part = Part::new(PartScope::from_line(&line.name), rise.n);
    part.unit = unit.to_owned();
    part.medians = ipcperf_stats::median(&largest.all_values()).into_iter().collect();
    part.estimates.push(peak_estimate(peak, over_unit));
    let steps = [
        (fall.as_ref(), EstimateKind::LargestOverPeak),
        (Some(&rise), EstimateKind::SmallestOverLargest),
    ];
    for (step, kind) in steps {
        let ratio = step.and_then(|step| step.ratio.clone());
        part.estimates.extend(ratio.map(|ratio| ratio.with_kind(kind)));
    }
    part.p = fall.as_ref().unwrap_or(&rise).p;
    // The correction applies to a fall, because that rejects.
    part.p_corrected = match fall {
        Some(_) => part.p.map(|p| (p * alphas.reported / alphas.reject).min(1.0)),
        None => part.p,
    };
    let others = &line.points[..last];
    part.series =
        others.iter().map(|other| SamplePair::from_points(other, largest).series()).collect();
    let is_highest = is_nowhere_below(comparison, largest, line, alphas.support);
    part.verdict = verdict(fall.as_ref(), &rise, is_highest);
    part
}

fn verdict(fall: Option<&EndComparison>, rise: &EndComparison, is_highest: bool) -> Verdict {
    if fall.is_some_and(|fall| fall.is_below) {
        Verdict::Rejected
    } else if is_highest && rise.is_below {
        Verdict::Supported
    } else {
        fall.unwrap_or(rise).inconclusive()
    }
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::synthetic;

    const KEYS: &str = "test = \"rises\"\nwhere = { mechanism = \"pipe\" }\n";

    #[test]
    fn a_peak_at_the_end_is_supported_and_one_before_it_rejected() {
        let verdict = |values: &[f64]| synthetic(12, 0.02, &[("pipe", values)]).verdict_name(KEYS);
        assert_eq!(verdict(&[1.0, 1.5, 2.0, 2.5, 3.0]), "supported");
        assert_eq!(verdict(&[1.0, 2.0]), "supported");
        assert_eq!(verdict(&[1.0, 1.5, 2.0, 1.5, 1.2]), "rejected");
        assert_eq!(verdict(&[3.0, 2.5, 2.0, 1.5, 1.0]), "rejected");
    }

    /// Without its largest level, a line that falls there appears to rise.
    #[test]
    fn a_line_whose_largest_level_was_disturbed_in_every_run_is_not_judged() {
        let falls = synthetic(12, 0.02, &[("pipe", &[1.0, 1.5, 2.0, 1.2])]);
        assert_eq!(falls.verdict_name(KEYS), "rejected");
        let found = falls.without(|_, level, _| level == 3).findings(KEYS);
        assert_eq!(found.verdict.name(), "not testable here", "{found:?}");
        let inside = synthetic(12, 0.02, &[("pipe", &[1.0, 1.5, 2.0, 2.5])]);
        assert_eq!(inside.without(|_, level, _| level == 1).verdict_name(KEYS), "supported");
    }

    #[test]
    fn a_plateau_rises_no_further_and_one_level_not_at_all() {
        let verdict = |values: &[f64]| synthetic(12, 0.02, &[("pipe", values)]).verdict_name(KEYS);
        assert_eq!(verdict(&[1.0, 1.0, 1.0, 1.0]), "inconclusive");
        assert_eq!(verdict(&[1.0]), "not testable here");
    }

    #[test]
    fn few_blocks_say_nothing() {
        for blocks in [1, 2, 5] {
            let few = synthetic(blocks, 0.02, &[("pipe", &[1.0, 2.0, 1.0])]);
            assert_eq!(few.verdict_name(KEYS), "inconclusive", "{blocks}");
        }
    }
}
