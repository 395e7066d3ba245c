//! Checks claims against themselves and against the matrices, so that a claim that could never be judged is reported
//! before anything is measured.

use ipcperf_model::suggestion::nearest;

use super::key::ValueType;
use super::known_levels::KnownLevels;
use super::mistake::Mistakes;
use super::selection::{FACTORS, Selection};
use super::values::Values;
use crate::hypothesis::ClaimTable;

/// Reports everything that would prevent `claim` from being judged.
pub(super) fn check(claim: &ClaimTable, known: &KnownLevels<'_>, mistakes: &mut Mistakes) {
    check_operands(&claim.values, mistakes);
    check_bounds(claim, mistakes);
    check_over(claim, known, mistakes);
    check_instruments(claim, known, mistakes);
}

/// Reports keys of `[sampling]` that exclude each other or that have no effect alone.
pub(super) fn check_sampling(sampling: &Values, mistakes: &mut Mistakes) {
    let is_there = |key: &str| sampling.has(key);
    let mut report = |key: &str, what: &str, remedy: &str| {
        let (line, path) = sampling.location_of(key);
        mistakes.add((line, &path), what, remedy);
    };
    if is_there("until_ci") {
        if is_there("repetitions") {
            let remedy = "keep one of the two; with until_ci, max_repetitions is the maximum";
            report("repetitions", "repetitions cannot be combined with until_ci", remedy);
        }
        return;
    }
    for key in ["max_repetitions", "max_time"].into_iter().filter(|key| is_there(key)) {
        let what = format!("{key} has an effect only with until_ci, which is missing");
        report(key, &what, &format!("add until_ci = 2, or leave out {key}"));
    }
}

/// Reports a comparison of cases with themselves.
fn check_operands(values: &Values, mistakes: &mut Mistakes) {
    let (Some(first), Some(second)) = (values.cases("first"), values.cases("second")) else {
        return;
    };
    if Selection::factors(first).eq(second.factors()) {
        let (line, path) = values.location_of("second");
        mistakes.add((line, &path), "second selects the same cases as first", "select other cases");
    }
}

/// Reports a test of bounds that has no bound, or whose interval is empty.
fn check_bounds(claim: &ClaimTable, mistakes: &mut Mistakes) {
    if !claim.test.has_key("above") {
        return;
    }
    let values = &claim.values;
    let (line, path) = values.location_of("above");
    match (values.number("above"), values.number("below")) {
        (None, None) => {
            let what = format!("no bound is set, but the test {} needs one", claim.test.name);
            mistakes.add((line, &path), what, "set above, below or both");
        }
        (Some(above), Some(below)) if above >= below => {
            let what = format!("no value is above {above} and below {below}");
            mistakes.add((line, &path), what, "above must be smaller than below");
        }
        _ => {}
    }
}

/// Reports an `over` factor that no matrix has.
fn check_over(claim: &ClaimTable, known: &KnownLevels<'_>, mistakes: &mut Mistakes) {
    let Some(over) = claim.values.text("over") else { return };
    if known.get(over).is_some() {
        return;
    }
    let remedy = match nearest(over, FACTORS.into_iter()) {
        Some(nearest) if nearest != over => format!("did you mean `{nearest}`?"),
        _ => "use a factor that a matrix has, such as buffer".to_owned(),
    };
    let (line, path) = claim.values.location_of("over");
    mistakes.add((line, &path), format!("no matrix has the factor {over}"), remedy);
}

/// Reports a metric whose instrument no matrix uses.
fn check_instruments(claim: &ClaimTable, known: &KnownLevels<'_>, mistakes: &mut Mistakes) {
    let values = &claim.values;
    for key in claim.keys_accepting(|takes| matches!(takes, ValueType::Metric)) {
        let Some(instrument) = values.metric(key).and_then(super::Metric::instrument) else {
            continue;
        };
        let watched = known.get("instrument");
        if watched.is_some_and(|levels| levels.contains(instrument)) {
            continue;
        }
        let (line, path) = values.location_of(key);
        let remedy = format!("add instrument = \"{instrument}\" to a matrix");
        mistakes.add((line, &path), format!("no matrix uses the instrument {instrument}"), remedy);
    }
}
