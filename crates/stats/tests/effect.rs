//! Agreement with SciPy, on inputs and outputs recorded by `recorded/make_effect.py`.

use ipcperf_stats::cliffs_delta;
use serde::Deserialize;

#[derive(Deserialize)]
struct Recorded {
    made_by: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    first: Vec<f64>,
    second: Vec<f64>,
    delta: f64,
}

#[test]
fn cliffs_delta_agrees() {
    let text = include_str!("recorded/effect.json");
    let Recorded { made_by, cases } = serde_json::from_str(text).unwrap();
    assert!(cases.len() >= 8);
    for Case { first, second, delta } in cases {
        let ours = cliffs_delta(&first, &second).unwrap();
        assert!((ours - delta).abs() < 1e-12, "{ours}, but {made_by} says {delta}");
    }
}
