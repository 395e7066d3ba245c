//! Numerical accuracy for difficult inputs: values far from 0 that differ by little, values near the limits of a
//! double, and infinities.

use ipcperf_stats::{
    Alternative, Bootstrap, Course, Curve, Degenerate, Interval, Method, NullDistribution,
    autocorrelation, chebyshev_of_sample, cliffs_delta, crossing, describe, dip_test,
    geometric_mean, geometric_means, interquartile_range, mann_whitney, mean_interval, median,
    median_absolute_deviation, paired_ratio, quantile, quartiles, ratio_of_geometric_means,
    ratio_of_medians, steadiness, trend, warm_up, welch_t,
};

#[allow(dead_code, reason = "each test takes what it needs")]
mod draws;

/// Difference by which values of 1e9 can differ and still be exact.
const STEP: f64 = 1.0 / (1 << 20) as f64;
/// Exponents of powers of two by which a series may be multiplied without losing digits.
const SCALES: [i32; 4] = [-900, -300, 300, 900];

/// Independent values: white noise.
fn steps(n: usize) -> Vec<f64> {
    let mut random = draws::seeded();
    (0..n).map(|_| (100.0 * draws::normal(&mut random)).round()).collect()
}

fn at(offset: f64, steps: &[f64]) -> Vec<f64> {
    steps.iter().map(|step| offset + step * STEP).collect()
}

fn times(factor: f64, values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value * factor).collect()
}

#[track_caller]
fn assert_close(ours: f64, truth: f64) {
    assert!((ours - truth).abs() <= 1e-12 * truth.abs(), "{ours:e}, not {truth:e}");
}

#[test]
fn autocorrelation_is_the_same_at_any_height_and_scale() {
    let steps: Vec<f64> = steps(500).iter().map(|step| (step / 10.0).round() / 8.0).collect();
    let truth = autocorrelation(&steps, 3).unwrap();
    assert!(truth.by_lag[0].abs() < truth.bound, "{truth:?}");
    let shifted = [1e9, -1e9, 3e6].map(|offset| at(offset, &steps));
    let scaled = [1e-310, 1e-250, 1e300].map(|factor| times(factor, &steps));
    for (series, slack) in
        shifted.iter().map(|one| (one, 1e-12)).chain(scaled.iter().map(|one| (one, 1e-6)))
    {
        let ours = autocorrelation(series, 3).unwrap();
        for (ours, truth) in ours.by_lag.iter().zip(&truth.by_lag) {
            assert!((ours - truth).abs() < slack, "{ours}, not {truth}, of {:e}", series[0]);
        }
    }
}

#[test]
fn spread_is_the_same_at_any_height() {
    let steps = [0.0, 0.0, 1.0];
    // Computed by hand: the squared deviations from 1/3 sum to 2/3.
    let truth = (1.0_f64 / 3.0).sqrt() * STEP;
    for offset in [1e9, -1e9, 0.0] {
        let ours = describe(&at(offset, &steps)).unwrap();
        assert_close(ours.standard_deviation.unwrap(), truth);
        let mean = offset + STEP / 3.0;
        assert_close(ours.coefficient_of_variation.unwrap(), truth / mean);
    }
}

#[test]
fn a_mean_is_that_of_all_values_however_they_cancel() {
    let values = [1e16, 1.0, -1e16, 1.0];
    let ours = describe(&values).unwrap();
    assert_eq!(ours.mean, 0.5);
    assert_eq!(describe(&[0.1; 7]).unwrap().mean, 0.1);
    assert_eq!(describe(&[1e308, 1.5e308]).unwrap().mean, 1.25e308);
}

/// With 2 degrees of freedom t exceeds 999.999 with probability 5e-7 (mpmath).
#[test]
fn the_interval_of_a_mean_far_from_0_is_as_wide_as_near_it() {
    let ends = |offset: f64| mean_interval(&[offset, offset, offset + STEP / 8.0], 0.999_999);
    let (near, far) = (ends(0.0).unwrap(), ends(1e9).unwrap());
    let width = |interval: Interval| interval.high - interval.low;
    assert!((width(far) - width(near)).abs() < 2.5e-7, "{} {}", width(far), width(near));
}

#[test]
fn the_spread_of_a_set_does_not_hang_on_where_the_other_lies() {
    let steps = [0.0, 0.0, 1.0];
    let t = |first: f64, second: f64| {
        let tested = welch_t(&at(first, &steps), &at(second, &steps), Alternative::Less);
        tested.unwrap().statistic
    };
    let error = (2.0 / 9.0_f64).sqrt() * STEP;
    assert_close(t(0.0, 1e9), -1e9 / error);
    assert_close(t(1e9, 0.0), 1e9 / error);
}

#[test]
fn what_is_infinite_has_no_quartiles_as_it_has_no_median() {
    for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let values = [1.0, 2.0, bad, 3.0];
        assert_eq!(quartiles(&values), Err(Degenerate::NotFinite));
        assert_eq!(median(&values), None);
        assert_eq!(interquartile_range(&values), None);
        assert_eq!(median_absolute_deviation(&values), None);
        assert_eq!(cliffs_delta(&values, &[1.0]), None);
        assert_eq!(cliffs_delta(&[1.0], &values), None);
    }
    assert_eq!(quartiles(&[]), Err(Degenerate::TooFew { given: 0, needed: 1 }));
    assert_eq!(quantile(&[f64::NEG_INFINITY, f64::INFINITY], 0.5), None);
    assert_eq!(quantile(&[1.0, f64::INFINITY], 1.0), Some(f64::INFINITY));
}

#[test]
fn between_the_ends_of_what_a_double_holds_lies_a_median() {
    let wide = [-f64::MAX, -f64::MAX, f64::MAX, f64::MAX];
    assert_eq!(median(&wide), Some(0.0));
    assert_eq!(quartiles(&wide).unwrap().median, 0.0);
    assert_eq!(interquartile_range(&wide), None);
    let wide: Vec<f64> = (0..12).map(|k| if k < 6 { -f64::MAX } else { f64::MAX }).collect();
    let interval = Bootstrap::default().median(&wide).unwrap();
    assert!(interval.low.is_finite() && interval.high.is_finite(), "{interval:?}");
    assert_eq!(interval.low, -interval.high);
}

/// Two pairs, with the ratios e^5 and e^-5: at 1 - 1e-4 t is 6366, and the upper end does not fit into a double.
#[test]
fn a_ratio_is_known_where_an_end_of_its_interval_is_not() {
    let (first, second) = ([5.0_f64.exp(), 1.0], [1.0, 5.0_f64.exp()]);
    let ratio = paired_ratio(&first, &second, 0.9999).unwrap();
    assert_close(ratio.ratio, 1.0);
    assert_eq!((ratio.low, ratio.high), (Some(0.0), None));
    let ratio = ratio_of_geometric_means(&first, &second, 0.999_999).unwrap();
    assert_close(ratio.ratio, 1.0);
    assert_eq!((ratio.low, ratio.high), (Some(0.0), None));
    let narrow = paired_ratio(&first, &second, 0.5).unwrap();
    assert!(narrow.low.is_some_and(|low| low > 0.0) && narrow.high.is_some());
}

#[test]
fn a_ratio_that_fits_into_no_double_is_none() {
    let (small, large) = ([1e-300, 2e-300], [1e300, 3e300]);
    for (first, second) in [(&small, &large), (&large, &small)] {
        assert_eq!(paired_ratio(first, second, 0.5), Err(Degenerate::OutOfRange));
        assert_eq!(ratio_of_geometric_means(first, second, 0.5), Err(Degenerate::OutOfRange));
        assert_eq!(ratio_of_medians(first, second), Err(Degenerate::OutOfRange));
    }
}

/// Ratios of 1 + k 2^-50, whose logarithms differ by the smallest difference of two values near 1e9.
#[test]
fn ratios_of_pairs_that_are_all_but_equal_keep_their_digits() {
    let second = [1e9; 6];
    let first: Vec<f64> = (1..=6).map(|k| 1e9 + f64::from(k) * STEP / 8.0).collect();
    let ratio = paired_ratio(&first, &second, 0.9).unwrap();
    let step = STEP / 8.0 / 1e9;
    // With 5 degrees of freedom t exceeds 2.015048373 with probability 0.05.
    let reach = 2.015_048_373 * (3.5_f64 / 6.0).sqrt() * step;
    let low = ratio.low.unwrap();
    assert!((low - 1.0 - (3.5 * step - reach)).abs() < 2.3e-16, "{:e}", low - 1.0);
}

#[test]
fn a_geometric_mean_lies_within_its_values_however_far_they_are_apart() {
    let mut values = [1e300; 10];
    values[0] = 1e-300;
    assert!((geometric_mean(&values).unwrap().log10() - 240.0).abs() < 1e-9);
    values.reverse();
    assert!((geometric_mean(&values).unwrap().log10() - 240.0).abs() < 1e-9);
    assert_eq!(geometric_mean(&[0.7; 5]), Ok(0.7));
    assert!(describe(&[5e-324, 1e308, 1e308]).unwrap().geometric_mean.is_some());
}

/// A rise from 1 to 20 next to three large values, and one with a median close to 0.
#[test]
fn a_trend_is_the_same_at_any_scale_and_never_infinite() {
    let series: Vec<f64> = (0..20).map(|k| 100.0 + f64::from(k * 7 % 20)).collect();
    let truth = trend(&series).unwrap();
    for power in SCALES {
        assert_eq!(trend(&times(2_f64.powi(power), &series)), Some(truth));
    }
    let wide: Vec<f64> = (0..20).map(|k| (f64::from(k) - 9.0) * 1.5e307).collect();
    let change = trend(&wide).unwrap().change;
    assert!((change - 19.0 / 0.5).abs() < 1e-9, "{change}");
    let mut tiny = vec![5e-324; 9];
    tiny[0] = -1e308;
    tiny[8] = 1e308;
    assert!(trend(&tiny).is_none_or(|trend| trend.change.is_finite()));
}

#[test]
fn a_warm_up_is_the_same_at_any_scale() {
    let warm = |k: usize| if k < 6 { 2.0 } else { 1.0 };
    let series: Vec<f64> =
        steps(60).iter().enumerate().map(|(k, step)| warm(k) + step * 1e-5).collect();
    let (cut, steady) = (warm_up(&series), steadiness(&series[6..]));
    assert_eq!(cut, Some(6));
    for power in SCALES {
        let series = times(2_f64.powi(power), &series);
        assert_eq!((warm_up(&series), steadiness(&series[6..])), (cut, steady), "2^{power}");
    }
}

#[test]
fn an_accelerated_interval_is_the_same_at_any_scale() {
    let values: Vec<f64> = (0..15).map(|k| f64::from(k * k % 11)).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / 15.0;
    let truth = Bootstrap::default().bca(&values, mean).unwrap();
    for power in SCALES {
        let factor = 2_f64.powi(power);
        let ours = Bootstrap::default().bca(&times(factor, &values), mean).unwrap();
        assert_eq!((ours.low, ours.high), (truth.low * factor, truth.high * factor), "2^{power}");
    }
}

#[test]
fn a_dip_is_the_same_at_any_scale() {
    let values: Vec<f64> = (0..30).map(|k| f64::from(k * k % 31) + 1.0).collect();
    let truth = dip_test(&values).unwrap();
    for factor in [2_f64.powi(1018), 2_f64.powi(-1000)] {
        assert_eq!(dip_test(&times(factor, &values)), Some(truth));
    }
    let wide: Vec<f64> = values.iter().map(|value| (value - 16.0) * 2_f64.powi(1019)).collect();
    assert_eq!(dip_test(&wide), Some(truth));
}

/// For one sample standard deviation the formula gives a whole number: every value may be that far off.
#[test]
fn the_bound_of_a_sample_does_not_fall_for_a_last_bit() {
    for n in 2..2000 {
        assert_eq!(chebyshev_of_sample(1.0, n), Ok(1.0), "{n}");
    }
    assert_eq!(chebyshev_of_sample(1e200, 10), Ok(1.0 / 11.0));
    assert_eq!(chebyshev_of_sample(0.0, 10), Ok(1.0));
}

fn curve(blocks: &[[f64; 3]]) -> Curve {
    let blocks = blocks.iter().map(|block| block.map(Some).to_vec()).collect();
    Curve::new(vec![1.0, 2.0, 4.0], blocks).unwrap()
}

#[test]
fn curves_that_are_all_but_one_cross_where_they_do() {
    let step = STEP / 8.0;
    let first = curve(&[[1e9 - step, 1e9 + step, 1e9 + 3.0 * step]; 3]);
    let found = crossing(&first, &curve(&[[1e9; 3]; 3]), &Bootstrap::default()).unwrap();
    let Course::Once(lasting) = found.course else { panic!("{:?}", found.course) };
    assert!((lasting.point.level - 2_f64.sqrt()).abs() < 1e-6, "{lasting:?}");
}

#[test]
fn means_of_a_block_keep_their_digits_and_large_ones_their_shape() {
    let first = curve(&[[1e9, 1e9, 1e9 + STEP]]);
    let means = geometric_means(&first, &curve(&[[1e9; 3]])).unwrap();
    assert_eq!(means[0].second, 1e9);
    assert!((means[0].first - 1e9 - STEP / 3.0).abs() < 1.2e-7, "{means:?}");
    let shape = curve(&[[1.2e308, 1.7e308, 0.4e308]]).shape().unwrap();
    assert!((shape.medians()[0].unwrap() - 1.2 / 1.1).abs() < 1e-12);
}

#[test]
fn a_level_line_has_no_slope_at_all() {
    for k in 1..100 {
        let levels = (0..7).map(|level| 2_f64.powi(level)).collect();
        let block = vec![Some(f64::from(k) / 7.0); 7];
        let slope = Curve::new(levels, vec![block; 6]).unwrap().slope(&Bootstrap::default());
        assert_eq!(slope.unwrap().median, 0.0, "{k} / 7");
    }
}

/// Computed by hand: of the 184,756 ways to divide 20 values one has all of the first set above, and one has them
/// below.
#[test]
fn sets_of_more_than_eight_have_the_exact_distribution() {
    let (low, high): (Vec<f64>, Vec<f64>) =
        ((0..10).map(f64::from).collect(), (10..20).map(f64::from).collect());
    let tested = mann_whitney(&high, &low, Alternative::TwoSided, Method::Auto).unwrap();
    assert_close(tested.p_value, 2.0 / 184_756.0);
    assert_eq!(tested.distribution, NullDistribution::Exact);
    // With ties every way to divide the values counts: two of the 20 values are equal, which changes no sum here.
    let tied: Vec<f64> = low.iter().map(|value| value.min(8.0)).collect();
    let tested = mann_whitney(&high, &tied, Alternative::TwoSided, Method::Auto).unwrap();
    assert_close(tested.p_value, 2.0 / 184_756.0);
    assert_eq!(tested.distribution, NullDistribution::Permutation);
}

/// The exact distribution is expensive, and therefore limited in size.
#[test]
fn large_sets_have_an_approximate_one() {
    let values = |n: u32, step: f64| (0..n).map(|k| f64::from(k) * step).collect::<Vec<_>>();
    let used = |first: &[f64], second: &[f64]| {
        mann_whitney(first, second, Alternative::Less, Method::Auto).unwrap().distribution
    };
    assert_eq!(used(&values(200, 1.000_123), &values(200, 1.0)[1..]), NullDistribution::Exact);
    assert_eq!(
        used(&values(300, 1.000_123), &values(200, 1.0)[1..]),
        NullDistribution::NormalCorrected
    );
    assert_eq!(used(&values(60, 1.0), &values(60, 1.0)), NullDistribution::Permutation);
    assert_eq!(used(&values(61, 1.0), &values(60, 1.0)), NullDistribution::NormalCorrected);
}
