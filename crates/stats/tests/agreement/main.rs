//! Agreement with SciPy and statsmodels to a relative 1e-9, on a thousand inputs and outputs recorded by
//! `recorded/make_tests.py`. Where they are less accurate than that themselves, values computed by mpmath at 40 digits
//! were recorded as well, and count instead.

mod evaluation;

use ipcperf_stats::Degenerate;
use serde::Deserialize;

use evaluation::evaluate;

#[derive(Deserialize)]
struct Recorded {
    made_by: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
pub(crate) struct Case {
    what: String,
    sets: Vec<Vec<f64>>,
    options: Vec<serde_json::Value>,
    /// `None` if an error was raised; within the values, `None` for those that are not finite.
    said: Option<Vec<Option<f64>>>,
    /// Values by mpmath, if the recorded ones are off by more than 1e-11.
    exact: Option<Vec<f64>>,
}

impl Case {
    /// Whether the values come from SciPy or statsmodels, and not from the formula.
    fn is_theirs(&self) -> bool {
        !matches!(self.what.as_str(), "hedges" | "paired-hedges" | "cliff")
    }

    /// Reference values, if all are present.
    fn reference(&self) -> Option<Vec<f64>> {
        let said = || self.said.as_ref()?.iter().copied().collect();
        self.exact.clone().or_else(said)
    }
}

fn recorded() -> Recorded {
    serde_json::from_str(include_str!("../recorded/tests.json")).unwrap()
}

/// Relative error of `ours`; absolute if the reference is 0.
fn off(ours: f64, theirs: f64) -> f64 {
    let away = (ours - theirs).abs();
    if theirs == 0.0 { away } else { away / theirs.abs() }
}

/// Whether this crate returns an error where SciPy returns a p-value of 1 although there is nothing to test.
fn is_stricter(case: &Case, why: Degenerate) -> bool {
    match case.what.as_str() {
        "wilcoxon" => why == Degenerate::AllZero && case.sets[0].iter().all(|&value| value == 0.0),
        "mann-whitney" => {
            why == Degenerate::NoSpread && case.sets.concat().iter().all(|&v| v == case.sets[0][0])
        }
        _ => false,
    }
}

/// Whether this crate has a result where SciPy has none: it refuses to permute the sign of one value.
fn is_bolder(case: &Case) -> bool {
    case.what == "wilcoxon" && case.options[2] == "permutation" && case.sets[0].len() == 1
}

#[test]
fn every_number_agrees() {
    let Recorded { made_by, cases } = recorded();
    let mut agreed = 0;
    for case in &cases {
        let Case { what, sets, options, .. } = case;
        let Some(theirs) = case.reference() else { continue };
        let ours = match evaluate(case) {
            Ok(ours) => ours,
            Err(why) if is_stricter(case, why) => continue,
            Err(why) => {
                panic!("{what} {options:?} of {sets:?}: {why}, but {made_by} says {theirs:?}")
            }
        };
        assert_eq!(ours.len(), theirs.len(), "{what}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            let ours = ours.unwrap();
            let off = off(ours, *theirs);
            assert!(
                off <= 1e-9,
                "{what} {options:?} of {sets:?}: {ours:e}, but {made_by} says {theirs:e}: {off:e}"
            );
        }
        agreed += usize::from(case.is_theirs());
    }
    assert!(agreed >= 1000, "{agreed} cases were held against each other");
}

#[test]
fn what_scipy_cannot_say_is_an_error_with_a_reason() {
    let mut degenerate = 0;
    for case in recorded().cases.iter().filter(|case| case.reference().is_none()) {
        let Case { what, sets, options, said, .. } = case;
        match evaluate(case) {
            Err(_) => {}
            Ok(_) if is_bolder(case) => continue,
            // Some of its numbers exist: the same ones must exist here.
            Ok(ours) if what == "description" => {
                let there = |values: &[Option<f64>]| -> Vec<bool> {
                    values.iter().map(Option::is_some).collect()
                };
                assert_eq!(there(&ours), there(said.as_ref().unwrap()), "{sets:?}");
            }
            Ok(ours) => panic!("{what} {options:?} of {sets:?}: {ours:?}, but SciPy says {said:?}"),
        }
        degenerate += 1;
    }
    assert!(degenerate >= 100, "{degenerate} degenerate inputs");
}

/// Cases in which SciPy is off by more than 1e-9, so that only mpmath is compared: tails far out, and spreads of sets
/// that lie far apart or far from 0.
/// spreads of sets that lie far apart or from 0.
#[test]
fn where_scipy_is_coarser_is_known() {
    let mut coarser: Vec<(String, usize)> = Vec::new();
    for case in &recorded().cases {
        let (Some(exact), Some(said)) = (&case.exact, &case.said) else { continue };
        let far =
            |(exact, said): (&f64, &Option<f64>)| said.is_none_or(|said| off(said, *exact) > 1e-9);
        let far = exact.iter().zip(said).any(far);
        if !far {
            continue;
        }
        match coarser.iter_mut().find(|(what, _)| *what == case.what) {
            Some((_, times)) => *times += 1,
            None => coarser.push((case.what.clone(), 1)),
        }
    }
    let coarser: Vec<(&str, usize)> = coarser.iter().map(|(what, n)| (what.as_str(), *n)).collect();
    let known = [
        ("one-sample-t", 6),
        ("student-t", 15),
        ("welch-t", 15),
        ("paired-t", 6),
        ("wilcoxon", 2),
        ("paired-power", 4),
        ("two-sample-power", 2),
        ("tost", 8),
    ];
    assert_eq!(coarser, known);
}
