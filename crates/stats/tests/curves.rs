//! Tests of curves: agreement with NumPy and SciPy, on inputs and outputs recorded by `recorded/make_curves.py`, and
//! properties that hold for every curve, however odd.

use ipcperf_stats::{
    BlockSelection, Bootstrap, Course, Curve, Interval, autocorrelation, crossing, geometric_means,
    shapes,
};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Recorded {
    made_by: String,
    cases: Vec<Case>,
    series: Vec<Series>,
}

#[derive(Deserialize)]
struct Case {
    levels: Vec<f64>,
    first: Vec<Vec<f64>>,
    second: Vec<Vec<f64>>,
    slopes: Vec<f64>,
    means: Vec<f64>,
    crossing: Option<f64>,
    hinge: Hinge,
}

#[derive(Deserialize)]
struct Hinge {
    error: f64,
    before: f64,
    after: f64,
}

#[derive(Deserialize)]
struct Series {
    series: Vec<f64>,
    lags: usize,
    by_lag: Vec<f64>,
    statistic: f64,
    p_value: f64,
}

impl Case {
    fn curve(&self, blocks: &[Vec<f64>]) -> Curve {
        let blocks = blocks.iter().map(|block| block.iter().copied().map(Some).collect());
        Curve::new(self.levels.clone(), blocks.collect()).unwrap()
    }
}

fn recorded() -> Recorded {
    serde_json::from_str(include_str!("recorded/curves.json")).unwrap()
}

fn assert_close(ours: f64, theirs: f64, within: f64, what: &str, by: &str) {
    let tolerance = within * theirs.abs().max(1e-3);
    assert!((ours - theirs).abs() <= tolerance, "{what}: {ours}, but {by} says {theirs}");
}

fn quick() -> Bootstrap {
    Bootstrap { resamples: 50, ..Bootstrap::default() }
}

#[test]
fn slopes_and_means_agree() {
    let Recorded { made_by, cases, .. } = recorded();
    for case in &cases {
        let first = case.curve(&case.first);
        let slope = first.slope(&quick()).unwrap();
        for (ours, theirs) in slope.by_block.iter().zip(&case.slopes) {
            assert_close(ours.unwrap(), *theirs, 1e-9, "slope", &made_by);
        }
        let means = geometric_means(&first, &case.curve(&case.second)).unwrap();
        assert_eq!((means.len(), slope.by_block.len()), (case.means.len(), case.slopes.len()));
        for ((ours, alone), theirs) in
            means.iter().zip(first.geometric_means().unwrap()).zip(&case.means)
        {
            assert_close(ours.first, *theirs, 1e-12, "geometric mean", &made_by);
            assert_close(alone.unwrap(), *theirs, 1e-12, "geometric mean", &made_by);
        }
    }
}

#[test]
fn crossings_agree() {
    let Recorded { made_by, cases, .. } = recorded();
    for case in &cases {
        let (first, second) = (case.curve(&case.first), case.curve(&case.second));
        let found = crossing(&first, &second, &quick()).unwrap();
        match (&found.course, case.crossing) {
            (Course::Once(lasting) | Course::Several { lasting, .. }, Some(theirs)) => {
                assert_close(lasting.point.level, theirs, 1e-9, "crossing", &made_by);
            }
            (Course::AlwaysAbove | Course::AlwaysBelow, None) => {}
            (ours, theirs) => panic!("{ours:?}, but {made_by} says {theirs:?}"),
        }
    }
}

/// The reference was found by a grid search: the hinge here is at least as good, and has the same lines.
#[test]
fn hinges_agree() {
    let Recorded { made_by, cases, .. } = recorded();
    for case in &cases {
        let found = case.curve(&case.first).change_point(&quick()).unwrap();
        assert!(case.hinge.error > 0.0);
        assert_close(found.slope_before, case.hinge.before, 1e-4, "slope before", &made_by);
        assert_close(found.slope_after, case.hinge.after, 1e-4, "slope after", &made_by);
    }
}

#[test]
fn autocorrelations_agree() {
    let Recorded { made_by, series, .. } = recorded();
    assert_eq!(series.len(), 10);
    for Series { series, lags, by_lag, statistic, p_value } in &series {
        let ours = autocorrelation(series, *lags).unwrap();
        assert_eq!(ours.by_lag.len(), by_lag.len());
        for (ours, theirs) in ours.by_lag.iter().zip(by_lag) {
            assert_close(*ours, *theirs, 1e-9, "autocorrelation", &made_by);
        }
        assert_close(ours.ljung_box.statistic, *statistic, 1e-9, "Ljung-Box", &made_by);
        assert_close(ours.ljung_box.p_value, *p_value, 1e-9, "its p", &made_by);
    }
}

/// If the machine is slow for a whole block, it is slow for both curves.
#[test]
fn what_a_whole_block_has_in_common_changes_no_place() {
    let Recorded { cases, .. } = recorded();
    let case = &cases[0];
    let paced = |blocks: &[Vec<f64>]| -> Vec<Vec<f64>> {
        let pace = [1.0, 8.0, 0.25];
        blocks
            .iter()
            .zip(pace.iter().cycle())
            .map(|(b, p)| b.iter().map(|v| v * p).collect())
            .collect()
    };
    let level = |first: &[Vec<f64>], second: &[Vec<f64>]| {
        let found = crossing(&case.curve(first), &case.curve(second), &quick()).unwrap();
        let (Course::Once(lasting) | Course::Several { lasting, .. }) = found.course else {
            panic!("{found:?}")
        };
        (lasting.point.level, lasting.interval.unwrap())
    };
    let (plain, paced) =
        (level(&case.first, &case.second), level(&paced(&case.first), &paced(&case.second)));
    assert!((plain.0 / paced.0 - 1.0).abs() < 1e-9);
    assert!((plain.1.low.unwrap() / paced.1.low.unwrap() - 1.0).abs() < 1e-9);
    assert!((plain.1.high.unwrap() / paced.1.high.unwrap() - 1.0).abs() < 1e-9);
}

fn value() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        6 => (0.5_f64..2.0).prop_map(Some),
        2 => Just(Some(1.0)),
        2 => Just(None),
        1 => prop_oneof![Just(0.0), Just(-1.0), Just(f64::MAX), Just(f64::MIN_POSITIVE), -1e9..1e9_f64]
            .prop_map(Some),
    ]
}

/// Curves with few levels and blocks, gaps, ties, and occasional values near the limits of a double.
fn curve() -> impl Strategy<Value = Curve> {
    (1_usize..8, 0_usize..8).prop_flat_map(|(levels, blocks)| {
        let values = prop::collection::vec(prop::collection::vec(value(), levels), blocks);
        let steps = prop::collection::vec(1.01_f64..8.0, levels);
        (steps, values).prop_map(|(steps, values)| {
            let next = |level: &mut f64, step: f64| {
                *level *= step;
                Some(*level)
            };
            Curve::new(steps.into_iter().scan(1.0, next).collect(), values).unwrap()
        })
    })
}

fn assert_interval(interval: Option<Interval>) {
    if let Some(Interval { low, high }) = interval {
        assert!(low.is_finite() && high.is_finite() && low <= high, "{low} to {high}");
    }
}

fn assert_share(share: Option<f64>) {
    assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{share:?}");
}

fn look_at_places(curve: &Curve, bootstrap: &Bootstrap) {
    for blocks in [BlockSelection::All, BlockSelection::Even, BlockSelection::Odd] {
        if let Ok(peak) = curve.peak(blocks, bootstrap) {
            assert!(curve.levels().contains(&peak.level) && peak.median.is_finite());
            assert_interval(peak.interval);
            assert_share(peak.share);
        }
    }
    if let Ok(change) = curve.change_point(bootstrap) {
        let [low, .., high] = curve.levels() else { panic!("one level has a change point") };
        assert!(change.level >= *low && change.level <= *high);
        assert!(change.slope_before.is_finite() && change.slope_after.is_finite());
        assert_share(change.p_value);
        assert_share(Some(change.explained));
        assert_interval(change.interval);
    }
    if let Ok(found) = curve.inflection(bootstrap) {
        for steepest in [Some(found.steepest), found.bend].into_iter().flatten() {
            assert!(steepest.level.is_finite() && steepest.slope.is_finite());
            assert_interval(steepest.interval);
        }
    }
}

fn look_at_heights(curve: &Curve, bootstrap: &Bootstrap) {
    if let Ok(slope) = curve.slope(bootstrap) {
        assert!(slope.median.is_finite() && slope.mean.is_finite());
        assert!(slope.by_block.iter().flatten().all(|slope| slope.is_finite()));
        assert_interval(slope.median_interval);
        assert_interval(slope.mean_interval);
    }
    let plateaus = [curve.plateau(0.1, bootstrap), curve.plateau_at(1.0, 0.3, bootstrap)];
    for plateau in plateaus.into_iter().flatten().flatten() {
        assert!(plateau.height.is_finite() && plateau.max_deviation <= 0.3 + 1e-9, "{plateau:?}");
        assert!(plateau.before.iter().all(|before| before.value.is_finite()));
        assert_interval(plateau.interval);
        assert_interval(plateau.from_interval);
        assert_share(plateau.share);
    }
    if let Ok(shape) = curve.shape() {
        assert!(shape.blocks().iter().flatten().flatten().all(|v| v.is_finite() && *v > 0.0));
    }
}

fn look_at_both(first: &Curve, second: &Curve, bootstrap: &Bootstrap) {
    if let Ok(found) = crossing(first, second, bootstrap) {
        assert_share(found.share);
        assert!(found.ratios.iter().all(|ratio| ratio.value > 0.0));
        if let Course::Once(lasting) | Course::Several { lasting, .. } = found.course {
            assert!(lasting.point.level.is_finite());
            let ends = lasting.interval.map(|interval| (interval.low, interval.high));
            if let Some((Some(low), Some(high))) = ends {
                assert_interval(Some(Interval { low, high }));
            }
        }
    }
    for means in geometric_means(first, second).into_iter().flatten() {
        assert!(means.first > 0.0 && means.second > 0.0 && means.first.is_finite());
    }
    for level in shapes(first, second, bootstrap).into_iter().flatten() {
        assert!(level.ratio.is_finite());
        assert_interval(level.interval);
    }
}

proptest! {
    #[test]
    fn no_curve_makes_nan_or_panics(first in curve(), second in curve()) {
        let none = Bootstrap { resamples: 0, ..quick() };
        let odd = Bootstrap { level: f64::NAN, ..quick() };
        for bootstrap in [quick(), none, odd] {
            look_at_places(&first, &bootstrap);
            look_at_heights(&first, &bootstrap);
            look_at_both(&first, &second, &bootstrap);
            look_at_both(&first, &first, &bootstrap);
        }
    }

    #[test]
    fn no_series_makes_nan(series in prop::collection::vec(prop_oneof![-1e9..1e9_f64, Just(f64::MAX), Just(-f64::MAX), Just(0.0)], 0..20), lags in 0_usize..30) {
        if let Ok(found) = autocorrelation(&series, lags) {
            prop_assert!(found.by_lag.iter().all(|r| r.abs() <= 1.0 + 1e-9), "{found:?}");
            prop_assert!((0.0..=1.0).contains(&found.ljung_box.p_value), "{found:?}");
        }
    }

    /// Inverting the ratio leaves the position of a crossing unchanged, and reverses its direction.
    #[test]
    fn a_crossing_is_the_same_from_the_other_side(first in curve(), second in curve()) {
        if let (Ok(one), Ok(other)) = (crossing(&first, &second, &quick()), crossing(&second, &first, &quick())) {
            match (one.course, other.course) {
                (Course::Once(one), Course::Once(other)) => {
                    prop_assert!((one.point.level / other.point.level - 1.0).abs() < 1e-9);
                    prop_assert_ne!(one.point.direction, other.point.direction);
                }
                (Course::Several { points: one, .. }, Course::Several { points: other, .. }) => {
                    prop_assert_eq!(one.len(), other.len());
                }
                (Course::AlwaysAbove, Course::AlwaysBelow)
                | (Course::AlwaysBelow, Course::AlwaysAbove)
                | (Course::AlwaysEqual, Course::AlwaysEqual) => {}
                (one, other) => prop_assert!(false, "{one:?} and {other:?}"),
            }
        }
    }
}
