//! slope: steepness of the rise or fall of a line of cases.

use ipcperf_stats::Bootstrap;

use super::evidence::{EstimateKind, Place};
use super::interval::{Bounds, Sure, median_of};
use super::key_values::{KeyError, KeyValues};
use super::keys::{ABOVE, BELOW};
use super::operands::alone;
use super::picture::{BetterNote, Caption, Picture, Together};
use super::{Cells, Claim, Found, Judge, Line, Part, Test, parsed};

pub(super) const TEST: Test = Test {
    name: "slope",
    about: "the slope of each line, in logarithms, lies above, below or between bounds: 0 is flat, 1 in proportion",
    formula: "In each block that has all levels the slope of least squares of log metric on log level; their \
              median over blocks with its 1 - level interval by order statistics. Supported where the interval \
              lies within the bounds (that of 1 - level/m, for m lines, where `need` is below 1), rejected where \
              that of 1 - level/m lies wholly outside.",
    assumptions: "Blocks are independent. The slope of a line that bends is that of its trend.",
    source: "David and Nagaraja 2003, Order Statistics, section 7.1",
    keys: &[ABOVE, BELOW],
    picture: Picture {
        together: Together::All,
        caption: Caption::Always(
            "Both axes are logarithmic: a slope is what it looks like, and 0 is flat.",
        ),
        better: BetterNote::Hidden,
    },
    parse: parsed::<SlopeKeys>,
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

    fn find(&self, claim: &Claim, cells: &Cells<'_>) -> Found {
        let lines = match alone(claim, cells, claim.metric()) {
            Ok(lines) => lines,
            Err(found) => return *found,
        };
        let sure = Sure::of(claim, lines.len(), claim.level());
        let part = |line| part(line, claim.over(), self.bounds, sure);
        let mut found = Found::of(lines.iter().map(part).collect(), claim.need());
        found.told.push(format!("the slope must lie {}", self.bounds.words()));
        found
    }
}

fn part(line: &Line<'_>, over: &str, bounds: Bounds, sure: Sure) -> Part {
    let untestable = |why: String| Part::untestable(Place::line(&line.name), why);
    let (line, levels) = line.whole(over);
    let slope = match line.curve() {
        Ok(curve) => curve.slope(&Bootstrap::default()),
        Err(why) => return untestable(why.to_string()),
    };
    let slope = match slope {
        Ok(slope) => slope,
        Err(why) => return untestable(why.to_string()),
    };
    let slopes: Vec<f64> = slope.by_block.iter().flatten().copied().collect();
    let mut part = Part::new(Place::line(&line.name), slopes.len());
    let (verdict, slope) =
        bounds.judge(|level| median_of(EstimateKind::Slope, &slopes, level), sure, part.n);
    part.verdict = verdict;
    part.estimates.extend(slope);
    part.series = vec![slopes];
    part.over(Some(levels))
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::made;

    const KEYS: &str = "test = \"slope\"\nwhere = { mechanism = \"pipe\" }\n";

    #[test]
    fn the_whole_interval_must_lie_within() {
        let falls = made(10, 0.02, &[("pipe", &[1.0, 0.8, 0.64, 0.512])]);
        let word = |bounds: &str| falls.word(&format!("{KEYS}{bounds}\n"));
        // ln 0.8 / ln 2 is -0.322.
        assert_eq!(word("below = -0.25"), "supported");
        assert_eq!(word("above = -0.1\nbelow = 0.1"), "rejected");
        assert_eq!(word("below = -0.322"), "inconclusive");
    }

    #[test]
    fn one_level_has_no_slope_and_five_blocks_no_interval() {
        let word = |blocks, values: &[f64]| {
            made(blocks, 0.02, &[("pipe", values)]).word(&format!("{KEYS}below = 0\n"))
        };
        assert_eq!(word(10, &[1.0]), "not testable here");
        assert_eq!(word(5, &[1.0, 0.5]), "inconclusive");
    }
}
