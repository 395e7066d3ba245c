//! ratio-within: the ratio of two lines of cases lies within bounds.

use super::compare::{Sides, Statistic, compare};
use super::faster_than::named;
use super::interval::Bounds;
use super::keys::{ABOVE, AT, BELOW, FIRST, SECOND, STATISTIC};
use super::sides::compares;
use super::{Cells, Claim, Found, Part, Test, Verdict};

pub(super) const TEST: Test = Test {
    name: "ratio-within",
    about: "the metric of the first cases over that of the second lies above, below or between bounds",
    formula: "The geometric mean over blocks of the paired ratio, with the 95 % interval of Student's t on its \
              logarithms. Supported where the interval lies within the bounds, rejected where it lies wholly \
              outside.",
    assumptions: "Logarithms of paired ratios are roughly normal, or there are many.",
    source: "Student 1908, Biometrika 6",
    keys: &[FIRST, SECOND, AT, STATISTIC, ABOVE, BELOW],
    find,
};

fn find(claim: &Claim, cells: &Cells<'_>) -> Found {
    let both = match compares(claim, cells) {
        Ok(both) => both,
        Err(found) => return found,
    };
    let bounds =
        Bounds { above: claim.values.number("above"), below: claim.values.number("below") };
    let mut parts = Vec::new();
    for pair in &both.pairs {
        if claim.values.word("at") == Some("levels") {
            let levels = pair.by_level();
            parts.extend(levels.iter().map(|(point, sides)| {
                part(claim, named(&both, pair, point), sides, bounds, &both.unit)
            }));
        } else {
            parts.push(part(claim, pair.name.clone(), &pair.by_block(), bounds, &both.unit));
        }
    }
    let mut found = Found::of(parts, claim.need());
    found.told.push(format!("the ratio must lie {}", bounds.words()));
    found
}

fn part(claim: &Claim, what: String, sides: &Sides, bounds: Bounds, unit: &str) -> Part {
    let compared = compare(what, sides, Statistic::of(claim), unit);
    let verdict = match compared.ratio() {
        Some(ratio) => bounds.judge(ratio, compared.part.n),
        None => Verdict::NotTestable { reason: "too few values have a ratio".to_owned() },
    };
    Part { verdict, p: None, statistic: None, ..compared.part }
}
