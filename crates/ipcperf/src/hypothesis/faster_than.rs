//! faster-than: one line of cases is better than another.

use super::compare::{Compared, Lean, Statistic, compare, correct};
use super::keys::{AT, FIRST, NEGLIGIBLE, OF_SECOND, SECOND, STATISTIC};
use super::sides::{Compares, Pair, compares};
use super::{Cells, Claim, Found, Part, Point, Test, Verdict};
use crate::study::Better;

pub(super) const TEST: Test = Test {
    name: "faster-than",
    about: "the first cases are better than the second in the metric: more bandwidth, less time",
    formula: "In each block the geometric mean over levels of the first and of the second, or at each level \
              the value itself; the paired Wilcoxon test by block (or the statistic named), two-sided, \
              corrected over the parts. Supported where p lies below the level and the first is better, \
              rejected where the second is, or where the 95 % interval of the ratio (t on logarithms of \
              paired ratios) shows less than a negligible advantage.",
    assumptions: "Blocks are independent; within a block the machine was the same for both. Wilcoxon's test \
                  supposes that differences lie evenly around their middle.",
    source: "Wilcoxon 1945, Biometrics Bulletin 1; Holm 1979, Scandinavian Journal of Statistics 6",
    keys: &[FIRST, SECOND, OF_SECOND, AT, STATISTIC, NEGLIGIBLE],
    find,
};

fn find(claim: &Claim, cells: &Cells<'_>) -> Found {
    match compares(claim, cells) {
        Err(found) => found,
        Ok(both) if claim.values.word("at") == Some("levels") => at_levels(claim, &both, |_| true),
        Ok(both) => {
            let statistic = Statistic::of(claim);
            let one = |pair: &Pair<'_>| {
                compare(pair.name.clone(), &pair.by_block(), statistic, &both.unit)
            };
            let mut found = judged(claim, both.pairs.iter().map(one).collect(), both.better);
            found.told = both.pairs.iter().map(|pair| by_level(pair, &both)).collect();
            found
        }
    }
}

/// At each level that `is_meant`.
pub(super) fn at_levels(
    claim: &Claim,
    both: &Compares<'_>,
    is_meant: impl Fn(&Point) -> bool,
) -> Found {
    let statistic = Statistic::of(claim);
    let mut all = Vec::new();
    for pair in &both.pairs {
        for (point, sides) in pair.by_level().into_iter().filter(|(point, _)| is_meant(point)) {
            let what = named(both, pair, point);
            all.push(compare(what, &sides, statistic, &both.unit));
        }
    }
    judged(claim, all, both.better)
}

/// A level, and which pair it is of where there are several.
pub(super) fn named(both: &Compares<'_>, pair: &Pair<'_>, point: &Point) -> String {
    if both.pairs.len() == 1 {
        point.label.clone()
    } else {
        format!("{}, {}", pair.name, point.label)
    }
}

/// The verdict that comparisons come to.
fn judged(claim: &Claim, mut all: Vec<Compared>, better: Better) -> Found {
    correct(&mut all, claim.correction());
    let count = all.len();
    let parts = all.into_iter().map(|one| part(claim, one, count, better)).collect();
    Found::of(parts, claim.need())
}

fn part(claim: &Claim, compared: Compared, others: usize, better: Better) -> Part {
    if matches!(compared.part.verdict, Verdict::NotTestable { .. }) {
        return compared.part;
    }
    let wins = match better {
        Better::Higher => Lean::First,
        Better::Lower => Lean::Second,
    };
    let is_significant = compared.is_significant(claim.level());
    let verdict = if is_significant && compared.lean == wins {
        Verdict::Supported
    } else if is_significant && compared.lean != Lean::Neither
        || is_negligible(claim, &compared, better)
    {
        Verdict::Rejected
    } else {
        compared.open(claim.level(), others, claim.correction())
    };
    Part { verdict, ..compared.part }
}

/// Whether all of the interval of the advantage lies below what matters.
fn is_negligible(claim: &Claim, compared: &Compared, better: Better) -> bool {
    let negligible = claim.values.number("negligible").unwrap_or(0.01);
    let Some((low, high)) = compared.ratio().and_then(|ratio| ratio.low.zip(ratio.high)) else {
        // All pairs alike, to the last bit.
        return compared.part.p == Some(1.0) && compared.part.n > 1;
    };
    let most = match better {
        Better::Higher => high,
        Better::Lower => 1.0 / low,
    };
    most < 1.0 + negligible
}

/// The ratio at each level, in words.
fn by_level(pair: &Pair<'_>, both: &Compares<'_>) -> String {
    let words = pair.by_level().into_iter().filter_map(|(point, sides)| {
        let ratio = sides.ratio(Statistic::Wilcoxon, 0.95)?;
        Some(format!("{} {:.2}", point.label, ratio.value))
    });
    let words: Vec<String> = words.collect();
    let what = if both.unit == "ns" { "times" } else { "ratios" };
    format!("{what} of {} by level: {}", pair.name, words.join(", "))
}
