//! differs: two lines of cases differ, whichever is the better.

use super::compare::{Compared, Statistic, compare, correct};
use super::faster_than::named;
use super::keys::{AT, FIRST, NEGLIGIBLE, SECOND, STATISTIC};
use super::sides::compares;
use super::{Cells, Claim, Found, Part, Test, Verdict};
use crate::study::{Key, Need, Takes};

pub(super) const TEST: Test = Test {
    name: "differs",
    about: "the first cases differ from the second, whichever is the better",
    formula: "As faster-than, without a direction: supported where p lies below the level and, where `effect` \
              is given, the amount of Hedges' g above it; rejected where the 95 % interval of the ratio lies \
              within negligible of 1 or, where `effect` is given, that of g within it.",
    assumptions: "As faster-than. Hedges' g supposes values that are roughly normal.",
    source: "Wilcoxon 1945, Biometrics Bulletin 1; Hedges 1981, Journal of Educational Statistics 6",
    keys: &[FIRST, SECOND, AT, STATISTIC, NEGLIGIBLE, EFFECT],
    find,
};

/// A size of effect.
pub(super) const EFFECT: Key = Key {
    name: "effect",
    takes: Takes::Number(0.0, 1e6),
    need: Need::Optional("any"),
    about: "the least amount of Hedges' g that counts; 0.8 is called large",
    example: "0.8",
};

fn find(claim: &Claim, cells: &Cells<'_>) -> Found {
    let mut all = match comparisons(claim, cells) {
        Ok(all) => all,
        Err(found) => return found,
    };
    correct(&mut all, claim.correction());
    let count = all.len();
    Found::of(all.into_iter().map(|one| part(claim, one, count)).collect(), claim.need())
}

/// The comparisons that a claim means: one for each pair of lines, or for each level of each.
///
/// # Errors
/// Why there are none.
pub(super) fn comparisons(claim: &Claim, cells: &Cells<'_>) -> Result<Vec<Compared>, Found> {
    let both = compares(claim, cells)?;
    let statistic = Statistic::of(claim);
    if claim.values.word("at") != Some("levels") {
        let one = |pair: &super::sides::Pair<'_>| {
            compare(pair.name.clone(), &pair.by_block(), statistic, &both.unit)
        };
        return Ok(both.pairs.iter().map(one).collect());
    }
    let mut all = Vec::new();
    for pair in &both.pairs {
        for (point, sides) in pair.by_level() {
            all.push(compare(named(&both, pair, point), &sides, statistic, &both.unit));
        }
    }
    Ok(all)
}

fn part(claim: &Claim, compared: Compared, others: usize) -> Part {
    if matches!(compared.part.verdict, Verdict::NotTestable { .. }) {
        return compared.part;
    }
    let effect = claim.values.number("effect");
    let (g, ratio) = (compared.hedges(), compared.ratio());
    let is_large = effect.is_none_or(|least| g.is_some_and(|g| g.value.abs() > least));
    let negligible = claim.values.number("negligible").unwrap_or(0.01);
    let is_small = match effect {
        Some(least) => g.is_some_and(|g| g.lies_within(-least, least)),
        None => ratio.map_or(compared.part.p == Some(1.0), |ratio| {
            ratio.lies_within(1.0 / (1.0 + negligible), 1.0 + negligible)
        }),
    };
    let verdict = if compared.is_significant(claim.level()) && is_large {
        Verdict::Supported
    } else if is_small {
        Verdict::Rejected
    } else {
        compared.open(claim.level(), others, claim.correction())
    };
    Part { verdict, ..compared.part }
}
