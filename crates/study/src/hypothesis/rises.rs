//! rises: a line of cases is highest at its largest level.

use ipcperf_stats::Peak;

use super::compare::Sides;
use super::comparison::Comparison;
use super::evidence::{EstimateKind, Place};
use super::interval::Sure;
use super::key_values::{KeyError, KeyValues};
use super::keys::{NEGLIGIBLE, STATISTIC};
use super::picture::Picture;
use super::rises_then_falls::{Step, by_peak, is_nowhere_below, odd_blocks, only, place};
use super::{Cells, Claim, Found, Judge, Line, Part, Test, Verdict, parsed};

pub(super) const TEST: Test = Test {
    name: "rises",
    about: "each line rises, and is nowhere higher than at its largest level",
    formula: "The level of the peak is chosen by the medians over every other block, from the first on. On the \
              other blocks the paired Wilcoxon test, one-sided, of the largest level below the peak, where that \
              is another level: rejected where p lies below level/m, for m lines. Supported where the same test \
              finds the smallest level below the largest with p below the level, and the largest lies below no \
              other by more than is negligible: the 1 - level interval of its ratio (t on logarithms of paired \
              ratios, all blocks) says so of each of them (level/m for both where `need` is below 1).",
    assumptions: "Blocks are independent. All intervals of a line must hold to support it, and a peak is tested on \
                  blocks that did not choose it, so neither is corrected (Berger 1982); all lines must hold, so \
                  that they support at the level itself. One line suffices to reject the claim: level/m.",
    source: "Wilcoxon 1945, Biometrics Bulletin 1; Berger 1982, Technometrics 24 (intersection of tests)",
    keys: &[STATISTIC, NEGLIGIBLE],
    picture: Picture::PEAKS,
    parse: parsed::<RisesKeys>,
};

/// Keys of rises.
#[derive(Debug)]
struct RisesKeys {
    comparison: Comparison,
}

impl Judge for RisesKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self { comparison: Comparison::parse(keys)? })
    }

    fn find(&self, claim: &Claim, cells: &Cells<'_>) -> Found {
        let least = (2, "one level neither rises nor falls");
        by_peak(claim, cells, least, |line, peak, unit, sure| {
            held(self.comparison, (line, peak), [unit, claim.over_unit()], sure)
        })
    }
}

/// Compares the largest level with the peak and with the smallest level, on the blocks that did not choose the peak.
fn held(
    comparison: Comparison,
    (line, peak): (&Line<'_>, &Peak),
    [unit, over_unit]: [&str; 2],
    sure: Sure,
) -> Part {
    let last = line.points.len() - 1;
    let (top, largest, smallest) = (&line.points[peak.index], &line.points[last], &line.points[0]);
    let odd = odd_blocks(line);
    let step = |low, high, level| {
        Step::of(comparison.statistic, &(only(low, &odd), only(high, &odd)), level)
    };
    let fall = (peak.index != last).then(|| step(largest, top, sure.rejects));
    let rise = step(smallest, largest, sure.supports);
    let mut part = Part::new(Place::line(&line.name), rise.n);
    part.unit = unit.to_owned();
    part.medians = ipcperf_stats::median(&largest.all()).into_iter().collect();
    part.estimates.push(place(peak, over_unit));
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
        Some(_) => part.p.map(|p| (p * sure.shown / sure.rejects).min(1.0)),
        None => part.p,
    };
    let others = &line.points[..last];
    part.series = others.iter().map(|other| Sides::of(other, largest).series()).collect();
    let is_highest = is_nowhere_below(comparison, largest, line, sure.supports);
    part.verdict = verdict(fall.as_ref(), &rise, is_highest);
    part
}

fn verdict(fall: Option<&Step>, rise: &Step, is_highest: bool) -> Verdict {
    if fall.is_some_and(|fall| fall.is_below) {
        Verdict::Rejected
    } else if is_highest && rise.is_below {
        Verdict::Supported
    } else {
        fall.unwrap_or(rise).open()
    }
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::made;

    const KEYS: &str = "test = \"rises\"\nwhere = { mechanism = \"pipe\" }\n";

    #[test]
    fn a_peak_at_the_end_is_supported_and_one_before_it_rejected() {
        let of = |values: &[f64]| made(12, 0.02, &[("pipe", values)]).word(KEYS);
        assert_eq!(of(&[1.0, 1.5, 2.0, 2.5, 3.0]), "supported");
        assert_eq!(of(&[1.0, 2.0]), "supported");
        assert_eq!(of(&[1.0, 1.5, 2.0, 1.5, 1.2]), "rejected");
        assert_eq!(of(&[3.0, 2.5, 2.0, 1.5, 1.0]), "rejected");
    }

    /// Without its largest level, a line that falls there appears to rise.
    #[test]
    fn a_line_whose_largest_level_was_disturbed_in_every_run_is_not_judged() {
        let falls = made(12, 0.02, &[("pipe", &[1.0, 1.5, 2.0, 1.2])]);
        assert_eq!(falls.word(KEYS), "rejected");
        let found = falls.without(|_, level, _| level == 3).found(KEYS);
        assert_eq!(found.verdict.word(), "not testable here", "{found:?}");
        let inside = made(12, 0.02, &[("pipe", &[1.0, 1.5, 2.0, 2.5])]);
        assert_eq!(inside.without(|_, level, _| level == 1).word(KEYS), "supported");
    }

    #[test]
    fn a_plateau_rises_no_further_and_one_level_not_at_all() {
        let of = |values: &[f64]| made(12, 0.02, &[("pipe", values)]).word(KEYS);
        assert_eq!(of(&[1.0, 1.0, 1.0, 1.0]), "inconclusive");
        assert_eq!(of(&[1.0]), "not testable here");
    }

    #[test]
    fn few_blocks_say_nothing() {
        for blocks in [1, 2, 5] {
            let few = made(blocks, 0.02, &[("pipe", &[1.0, 2.0, 1.0])]);
            assert_eq!(few.word(KEYS), "inconclusive", "{blocks}");
        }
    }
}
