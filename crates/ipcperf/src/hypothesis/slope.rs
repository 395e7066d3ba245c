//! slope: how steeply a line of cases rises or falls.

use ipcperf_stats::Bootstrap;

use super::interval::Bounds;
use super::keys::{ABOVE, BELOW};
use super::sides::alone;
use super::{Cells, Claim, Estimate, Found, Line, Part, Test};

pub(super) const TEST: Test = Test {
    name: "slope",
    about: "the slope of each line, in logarithms, lies above, below or between bounds: 0 is flat, 1 in proportion",
    formula: "In each block the slope of least squares of log metric on log level; their median over blocks with \
              its interval by order statistics. Supported where the interval lies within the bounds, rejected \
              where it lies wholly outside.",
    assumptions: "Blocks are independent. The slope of a line that bends is that of its trend.",
    source: "David and Nagaraja 2003, Order Statistics, section 7.1",
    keys: &[ABOVE, BELOW],
    find,
};

fn find(claim: &Claim, cells: &Cells<'_>) -> Found {
    let bounds =
        Bounds { above: claim.values.number("above"), below: claim.values.number("below") };
    match alone(claim, cells, &claim.metric()) {
        Err(found) => found,
        Ok(lines) => {
            let parts = lines.iter().map(|line| part(line, bounds)).collect();
            let mut found = Found::of(parts, claim.need());
            found.told.push(format!("the slope must lie {}", bounds.words()));
            found
        }
    }
}

fn part(line: &Line<'_>, bounds: Bounds) -> Part {
    let untestable = |why: String| Part::untestable(line.name.clone(), why);
    let slope = match line.curve() {
        Ok(curve) => curve.slope(&Bootstrap::default()),
        Err(why) => return untestable(why.to_string()),
    };
    let slope = match slope {
        Ok(slope) => slope,
        Err(why) => return untestable(why.to_string()),
    };
    let estimate = Estimate {
        name: "slope".to_owned(),
        value: slope.median,
        low: slope.median_interval.map(|ends| ends.low),
        high: slope.median_interval.map(|ends| ends.high),
        level: 0.95,
        unit: String::new(),
    };
    let mut part = Part::new(line.name.clone(), slope.by_block.iter().flatten().count());
    part.verdict = bounds.judge(&estimate, part.n);
    part.estimates.push(estimate);
    part
}
