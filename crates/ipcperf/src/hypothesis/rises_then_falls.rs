//! rises-then-falls: a line of cases has its peak inside.

use ipcperf_stats::{Alternative, Blocks, Bootstrap, Peak};

use super::compare::{Sides, Statistic};
use super::keys::{NEGLIGIBLE, STATISTIC};
use super::sides::alone;
use super::{Cells, Claim, Estimate, Found, Line, Part, Point, Test, Verdict};

pub(super) const TEST: Test = Test {
    name: "rises-then-falls",
    about: "each line rises up to a level between its ends, and then falls",
    formula: "The level of the peak is chosen by the medians over the even blocks. On the odd blocks the paired \
              Wilcoxon test, one-sided, of the smallest level below the peak and of the largest below it. \
              Supported where the peak is inner and both p lie below the level. Rejected where the peak is an \
              end in every resample, where one of the two differs the other way with p below the level, or \
              where the 95 % interval of their ratio shows less than a negligible difference.",
    assumptions: "Blocks are independent. Both tests must hold, so neither is corrected.",
    source: "Wilcoxon 1945, Biometrics Bulletin 1; Berger 1982, Technometrics 24 (intersection of tests)",
    keys: &[STATISTIC, NEGLIGIBLE],
    find,
};

fn find(claim: &Claim, cells: &Cells<'_>) -> Found {
    match alone(claim, cells, &claim.metric()) {
        Err(found) => found,
        Ok(lines) => {
            let unit = claim.metric().unit(lines.iter().find_map(|line| line.example)).to_owned();
            Found::of(lines.iter().map(|line| part(claim, line, &unit)).collect(), claim.need())
        }
    }
}

fn part(claim: &Claim, line: &Line<'_>, unit: &str) -> Part {
    let name = line.name.clone();
    let peak = match line.curve() {
        Ok(curve) => curve.peak(Blocks::Even, &Bootstrap::default()),
        Err(why) => return Part::untestable(name, why.to_string()),
    };
    match peak {
        Err(why) => Part::untestable(name, why.to_string()),
        Ok(_) if line.points.len() < 3 => {
            Part::untestable(name, "a line of three levels or more has an inside")
        }
        Ok(peak) => held(claim, line, &peak, unit),
    }
}

/// The peak held against both ends, on the blocks that did not choose it.
fn held(claim: &Claim, line: &Line<'_>, peak: &Peak, unit: &str) -> Part {
    let top = &line.points[peak.index];
    let ends = [&line.points[0], &line.points[line.points.len() - 1]];
    let sides = ends.map(|end| Sides::of(&odd(end), &odd(top)));
    let mut part = Part::new(line.name.clone(), sides[0].second.len().min(sides[1].second.len()));
    part.unit = unit.to_owned();
    part.medians = ipcperf_stats::median(&top.all()).into_iter().collect();
    part.estimates.push(place(peak));
    let results = sides.each_ref().map(|sides| Step::of(claim, sides));
    for (step, what) in results.iter().zip(["smallest over peak", "largest over peak"]) {
        part.estimates
            .extend(step.ratio.clone().map(|ratio| Estimate { name: what.to_owned(), ..ratio }));
    }
    part.p = results[0].p.zip(results[1].p).map(|(one, other)| one.max(other));
    part.p_corrected = part.p;
    part.verdict = verdict(peak, &results);
    part
}

fn place(peak: &Peak) -> Estimate {
    let ends = peak.interval;
    Estimate {
        name: "peak at".to_owned(),
        value: peak.level,
        low: ends.map(|ends| ends.low),
        high: ends.map(|ends| ends.high),
        level: 0.95,
        unit: "bytes".to_owned(),
    }
}

/// The values of the odd blocks, counted from 0 among those that the line has.
fn odd(point: &Point) -> Point {
    let values = point.values.iter().filter(|(block, _)| **block % 2 == 1);
    Point { values: values.map(|(block, value)| (*block, *value)).collect(), ..point.clone() }
}

/// An end of the line beside its peak.
struct Step {
    /// Of the end lying below the peak.
    p: Option<f64>,
    ratio: Option<Estimate>,
    is_below: bool,
    is_above: bool,
    is_negligible: bool,
}

impl Step {
    fn of(claim: &Claim, sides: &Sides) -> Self {
        let statistic = Statistic::of(claim);
        let p = |alternative| statistic.test(sides, alternative).ok().map(|tested| tested.p_value);
        let (below, above) = (p(Alternative::Less), p(Alternative::Greater));
        let ratio = sides.ratio(statistic, 0.95);
        let negligible = claim.values.number("negligible").unwrap_or(0.01);
        let level = claim.level();
        Self {
            is_below: below.is_some_and(|p| p < level),
            is_above: above.is_some_and(|p| p < level),
            is_negligible: ratio
                .as_ref()
                .and_then(|ratio| ratio.low)
                .is_some_and(|low| low > 1.0 / (1.0 + negligible)),
            p: below,
            ratio,
        }
    }
}

fn verdict(peak: &Peak, steps: &[Step; 2]) -> Verdict {
    if !peak.is_inner {
        let is_certain = peak.share.is_some_and(|share| share > 0.95);
        return if is_certain {
            Verdict::Rejected
        } else {
            Verdict::Inconclusive { repetitions: None }
        };
    }
    if steps.iter().all(|step| step.is_below) {
        Verdict::Supported
    } else if steps.iter().any(|step| step.is_above || step.is_negligible) {
        Verdict::Rejected
    } else {
        Verdict::Inconclusive { repetitions: None }
    }
}
