//! The dip test compared with the package diptest, on values recorded by `recorded/make_dip.py`.

use ipcperf_stats::dip_test;
use serde::Deserialize;

#[derive(Deserialize)]
struct Recorded {
    made_by: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    values: Vec<f64>,
    statistic: f64,
    p_value: f64,
}

fn recorded() -> Recorded {
    serde_json::from_str(include_str!("recorded/dip.json")).unwrap()
}

#[test]
fn the_statistic_agrees() {
    let recorded = recorded();
    for Case { values, statistic, .. } in &recorded.cases {
        let ours = dip_test(values).unwrap().statistic;
        let by = &recorded.made_by;
        assert!((ours - statistic).abs() < 1e-12, "{ours}, but {by} says {statistic}: {values:?}");
    }
}

/// The two tables were simulated independently; the one here begins at 0.99.
#[test]
fn the_probability_agrees() {
    let recorded = recorded();
    for Case { values, p_value, .. } in &recorded.cases {
        let ours = dip_test(values).unwrap().p_value;
        let (by, n) = (&recorded.made_by, values.len());
        let tolerance = 0.002 + 0.05 * p_value.min(1.0 - p_value);
        assert!(
            (ours.min(0.99) - p_value.min(0.99)).abs() < tolerance,
            "n = {n}: {ours}, but {by} says {p_value}"
        );
    }
}

#[test]
fn too_little_or_no_number_has_no_dip() {
    for bad in [&[][..], &[1.0, 2.0, 3.0], &[1.0, 2.0, f64::NAN, 3.0, 4.0]] {
        assert_eq!(dip_test(bad), None);
    }
}

#[test]
fn equal_values_have_one_mode() {
    let dip = dip_test(&[3.0; 50]).unwrap();
    assert_eq!((dip.statistic, dip.p_value), (0.01, 1.0));
}
