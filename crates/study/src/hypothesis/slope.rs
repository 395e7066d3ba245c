//! slope: steepness of the rise or fall of a line of cases.

use ipcperf_stats::Bootstrap;

use super::evidence::{EstimateKind, PartScope};
use super::figure_layout::{BetterNote, Caption, FigureLayout, PanelGrouping};
use super::interval::{Alphas, Bounds, median_estimate};
use super::key_values::{KeyError, KeyValues};
use super::operands::claim_lines;
use super::shared_keys::{ABOVE, BELOW};
use super::{Cells, Claim, Findings, Judge, Line, Part, Test, parse_keys};

pub(super) const TEST: Test = Test {
    name: "slope",
    about: "the slope of each line on logarithmic axes is above, below or between bounds: 0 is \
            flat, 1 is proportional",
    estimate: "In each block that has all levels, a straight line is fitted by least squares to the logarithm of \
               the metric as a function of the logarithm of the level. The estimate is the median over blocks of \
               the slopes of these straight lines. It has an interval by order statistics. The keys `above` and \
               `below` set the bounds.",
    supported_if: "the 1 - alpha interval lies within the bounds. If `min_fraction` is below 1, the 1 - alpha/m \
                   interval is used.",
    rejected_if: "the 1 - alpha/m interval lies entirely outside the bounds.",
    assumptions: "Blocks are independent. If the measured line is curved on logarithmic axes, its slope is that of \
                  the straight line that fits it best.",
    source: "David and Nagaraja 2003, Order Statistics, section 7.1",
    keys: &[ABOVE, BELOW],
    figure_layout: FigureLayout {
        panels: PanelGrouping::All,
        caption: Caption::Always("Both axes are logarithmic, so the slope is visible; 0 is flat."),
        better: BetterNote::Hidden,
    },
    parse: parse_keys::<SlopeKeys>,
};

/// Keys of slope.
#[derive(Debug)]
struct SlopeKeys {
    bounds: Bounds,
}

impl Judge for SlopeKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self { bounds: Bounds::parse(keys)? })
    }

    fn evaluate(&self, claim: &Claim, cells: &Cells<'_>) -> Findings {
        let lines = match claim_lines(claim, cells, claim.metric()) {
            Ok(lines) => lines,
            Err(found) => return *found,
        };
        let alphas = Alphas::new(claim, lines.len(), claim.alpha());
        let part = |line| judge_line(line, claim.over(), self.bounds, alphas);
        let mut found =
            Findings::from_parts(lines.iter().map(part).collect(), claim.min_fraction());
        found.remarks.push(format!("the slope must be {}", self.bounds.description()));
        found
    }
}

fn judge_line(line: &Line<'_>, over: &str, bounds: Bounds, alphas: Alphas) -> Part {
    let untestable = |why: String| Part::untestable(PartScope::from_line(&line.name), why);
    let (line, levels) = line.complete_part(over);
    let slope = match line.curve() {
        Ok(curve) => curve.slope(&Bootstrap::default()),
        Err(why) => return untestable(why.to_string()),
    };
    let slope = match slope {
        Ok(slope) => slope,
        Err(why) => return untestable(why.to_string()),
    };
    let slopes: Vec<f64> = slope.by_block.iter().flatten().copied().collect();
    let mut part = Part::new(PartScope::from_line(&line.name), slopes.len());
    let (verdict, slope) =
        bounds.judge(|level| median_estimate(EstimateKind::Slope, &slopes, level), alphas, part.n);
    part.verdict = verdict;
    part.estimates.extend(slope);
    part.series = vec![slopes];
    part.with_levels(Some(levels))
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::synthetic;

    const KEYS: &str = "test = \"slope\"\nwhere = { mechanism = \"pipe\" }\n";

    #[test]
    fn the_whole_interval_must_lie_within() {
        let falls = synthetic(10, 0.02, &[("pipe", &[1.0, 0.8, 0.64, 0.512])]);
        let word = |bounds: &str| falls.verdict_name(&format!("{KEYS}{bounds}\n"));
        // ln 0.8 / ln 2 is -0.322.
        assert_eq!(word("below = -0.25"), "supported");
        assert_eq!(word("above = -0.1\nbelow = 0.1"), "rejected");
        assert_eq!(word("below = -0.322"), "inconclusive");
    }

    #[test]
    fn one_level_has_no_slope_and_five_blocks_no_interval() {
        let word = |blocks, values: &[f64]| {
            synthetic(blocks, 0.02, &[("pipe", values)]).verdict_name(&format!("{KEYS}below = 0\n"))
        };
        assert_eq!(word(10, &[1.0]), "not testable here");
        assert_eq!(word(5, &[1.0, 0.5]), "inconclusive");
    }
}
