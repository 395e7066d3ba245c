//! Agreement with SciPy, on inputs and outputs recorded by `recorded/make.py`.

use ipcperf_stats::{quantile, quartiles};
use serde::Deserialize;

#[derive(Deserialize)]
struct Recorded {
    made_by: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    values: Vec<f64>,
    q1: f64,
    median: f64,
    q3: f64,
    p90: f64,
    p999: f64,
}

fn recorded() -> Recorded {
    serde_json::from_str(include_str!("recorded/description.json")).unwrap()
}

fn assert_close(ours: f64, theirs: f64, what: &str, by: &str) {
    let tolerance = 1e-9 * theirs.abs().max(1e-3);
    assert!((ours - theirs).abs() <= tolerance, "{what}: {ours}, but {by} says {theirs}");
}

#[test]
fn quartiles_agree() {
    let recorded = recorded();
    for case in &recorded.cases {
        let ours = quartiles(&case.values).unwrap();
        assert_close(ours.q1, case.q1, "q1", &recorded.made_by);
        assert_close(ours.median, case.median, "median", &recorded.made_by);
        assert_close(ours.q3, case.q3, "q3", &recorded.made_by);
    }
}

#[test]
fn other_quantiles_agree() {
    let recorded = recorded();
    for case in &recorded.cases {
        let mut sorted = case.values.clone();
        sorted.sort_by(f64::total_cmp);
        assert_close(quantile(&sorted, 0.9).unwrap(), case.p90, "p90", &recorded.made_by);
        assert_close(quantile(&sorted, 0.999).unwrap(), case.p999, "p999", &recorded.made_by);
    }
}
