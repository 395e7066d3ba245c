//! Steadiness of a run: how many of its first measurements to leave out, and whether the rest still drifts.

use crate::{
    moments::{deviations_from_mean, mean, scaled},
    normal::{normal_cdf, normal_quantile},
    spread::{median, median_absolute_deviation},
    trend::{Trend, trend},
};

/// Verdict on consecutive measurements of the same quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steadiness {
    /// No trend, or no relevant one.
    Steady,
    /// A trend that chance does not explain, of relevant size.
    Drifting {
        /// Change from the first to the last measurement, relative to the median; see [`Trend::change`].
        change: f64,
        /// Probability of such a trend by chance, corrected for correlation.
        p_value: f64,
    },
}

/// Probability of a trend below which chance does not explain it.
const ALPHA: f64 = 0.01;
/// Minimum relevant change, relative to the median.
const MIN_RELEVANT_CHANGE: f64 = 0.02;
/// Minimum number of measurements in which a warm-up can be distinguished from noise.
const MIN_MEASUREMENTS: usize = 10;
/// Factor from the MAD to the standard deviation of a normal distribution (Hampel 1974).
const MAD_SCALE: f64 = 1.4826;
/// Distance from the level, in standard deviations, at which measurements are clipped. An interruption then has little
/// weight, while a warm-up of several measurements keeps its weight.
const CLIP: f64 = 4.0;
/// Minimum distance of the beginning from the rest to count as a warm-up, in standard errors. Large, because the
/// beginning was selected among many.
const MIN_WARM_UP_ERRORS: f64 = 4.0;
/// Minimum distance of the first measurement from the rest if it alone is the warm-up, in standard deviations.
const MIN_FIRST_DEVIATIONS: f64 = 6.0;
/// Increase, in variances per measurement, that the cut tolerates in what is kept.
const TOLERATED_INCREASE: f64 = 5.0;
/// Maximum correlation that is corrected for: a change of level looks like correlation, too.
const MAX_CORRELATION: f64 = 0.3;
/// Minimum standard deviation, relative to the level, for measurements that hardly differ.
const MIN_DEVIATION: f64 = 0.001;

/// Tests whether `series`, consecutive times or rates of equal slices of a run, is steady: a trend with a probability
/// below 1 % and a change of 2 % or more is a drift (see [`trend`] for the formulas).
///
/// Slow fluctuations, such as those of a clock frequency, look like trends to that test. So its statistic is first
/// divided by the square root of (1 + r) / (1 - r), where r is the lag-1 correlation without the trend (Yue and Wang
/// 2004, *The Mann-Kendall Test Modified by Effective Sample Size*, Water Resources Management 18), minus the
/// correlation expected by chance, and at most 0.3, because a change of level half-way looks like correlation, too. Of
/// steady series with r = 0.7 one in six is still classified as drifting.
///
/// Returns `None` if there is no [`Trend`]: fewer than eight measurements, one that is not finite, or a median of 0.
#[must_use]
pub fn steadiness(series: &[f64]) -> Option<Steadiness> {
    let (series, trend) = (scaled(series)?, trend(series)?);
    let plain = normal_quantile(trend.p_value / 2.0);
    let p_value = 2.0 * normal_cdf(plain / correlation_inflation(&detrend(&series, &trend)?));
    let change = trend.change;
    let drifts = p_value < ALPHA && change.abs() >= MIN_RELEVANT_CHANGE;
    Some(if drifts { Steadiness::Drifting { change, p_value } } else { Steadiness::Steady })
}

#[allow(clippy::cast_precision_loss, reason = "places in the series")]
fn detrend(series: &[f64], trend: &Trend) -> Option<Vec<f64>> {
    let step = trend.change * median(series)?.abs() / (series.len() - 1) as f64;
    Some(series.iter().enumerate().map(|(i, value)| value - step * i as f64).collect())
}

/// Number of measurements at the start of `series` to leave out until the rest is steady; 0 if all are steady. `None`
/// if the series never becomes steady, with a warm-up of about half or more, or a drift after it, and for fewer than
/// ten measurements, one that is not finite, or a level and a spread of 0.
///
/// The cut is that of MSER (White 1997, *An Effective Truncation Heuristic for Bias Reduction in Simulation Output*,
/// Simulation 69): where the standard error of the mean of the rest is smallest. On its own MSER also cuts noise, and
/// everything before an interruption. So measurements are first clipped to within four standard deviations (by the MAD,
/// or by the differences between consecutive slices) of the median of the second half. A cut counts only if the
/// measurements that it removes differ from the rest by four standard errors, and their median by 2 % of the level. The
/// first measurement alone is removed if it differs by six standard deviations and 2 %.
#[must_use]
pub fn warm_up(series: &[f64]) -> Option<usize> {
    let series = &scaled(series)?;
    let level = SteadyLevel::from_series(series)?;
    let clipped: Vec<f64> = series.iter().map(|&value| level.clip(value)).collect();
    let cut = mser_cut(&clipped);
    let cut = if level.is_warm_up(&clipped, cut) && level.is_relevant(&series[..cut]) {
        cut
    } else {
        usize::from(level.is_first_outlier(series[0]))
    };
    if cut + 1 >= series.len() / 2 {
        // The minimum error lies further on.
        return None;
    }
    // The remainder of a warm-up is not a drift, but a real drift would still be in progress in this part.
    match steadiness(&series[cut.max(series.len() / 3)..]) {
        Some(Steadiness::Drifting { .. }) => None,
        _ => Some(cut),
    }
}

/// Level of a series: the median of its second half, and the spread around it.
struct SteadyLevel {
    middle: f64,
    deviation: f64,
}

impl SteadyLevel {
    fn from_series(series: &[f64]) -> Option<Self> {
        if series.len() < MIN_MEASUREMENTS {
            return None;
        }
        let second_half = &series[series.len() / 2..];
        let middle = median(second_half)?;
        let around_level = median_absolute_deviation(second_half)?;
        let spread = MAD_SCALE * around_level.max(successive_mad(series)?);
        let deviation = spread.max(MIN_DEVIATION * middle.abs());
        (deviation > 0.0).then_some(Self { middle, deviation })
    }

    fn clip(&self, value: f64) -> f64 {
        let reach = CLIP * self.deviation;
        value.clamp(self.middle - reach, self.middle + reach)
    }

    /// Whether the first `cut` of the `clipped` measurements differ from the rest.
    #[allow(clippy::cast_precision_loss, reason = "numbers of measurements")]
    fn is_warm_up(&self, clipped: &[f64], cut: usize) -> bool {
        if cut == 0 {
            return false;
        }
        let (head, rest) = clipped.split_at(cut);
        let away = (mean(head) - mean(rest)).abs();
        let error = (1.0 / head.len() as f64 + 1.0 / rest.len() as f64).sqrt();
        away >= MIN_WARM_UP_ERRORS * self.deviation * error
    }

    /// Whether `head` differs from the level by a relevant amount. Uses its median, so that one interruption is not a
    /// warm-up, and unclipped values, so that quiet series can have one, too.
    fn is_relevant(&self, head: &[f64]) -> bool {
        median(head).is_some_and(|median| {
            (median - self.middle).abs() >= MIN_RELEVANT_CHANGE * self.middle.abs()
        })
    }

    fn is_first_outlier(&self, first: f64) -> bool {
        let away = (first - self.middle).abs();
        away >= MIN_FIRST_DEVIATIONS * self.deviation
            && away >= MIN_RELEVANT_CHANGE * self.middle.abs()
    }
}

/// MAD estimated from the differences between consecutive measurements, which neither a warm-up nor a drift inflates.
fn successive_mad(series: &[f64]) -> Option<f64> {
    let differences: Vec<f64> = series.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    Some(median(&differences)? / std::f64::consts::SQRT_2)
}

/// Factor by which correlation between consecutive measurements, modeled as a first-order autoregression, inflates the
/// standard error of a mean. At least 1, and 1 for a correlation that is common by chance.
fn correlation_inflation(values: &[f64]) -> f64 {
    let away = deviations_from_mean(values);
    let squares: f64 = away.iter().map(|away| away * away).sum();
    let products: f64 = away.windows(2).map(|pair| pair[0] * pair[1]).sum();
    #[allow(clippy::cast_precision_loss, reason = "a number of measurements")]
    let by_chance = 1.0 / (values.len() as f64).sqrt();
    let correlation = if squares > 0.0 {
        (products / squares - by_chance).clamp(0.0, MAX_CORRELATION)
    } else {
        0.0
    };
    ((1.0 + correlation) / (1.0 - correlation)).sqrt()
}

/// Number of measurements to leave out, up to half, for the minimum standard error of the mean of the rest (White
/// 1997); beyond half, the few that are left have a small error by chance. Takes the earliest of the cuts that come
/// close to the minimum: keeping one more measurement of up to [`TOLERATED_INCREASE`] variances does not indicate a
/// warm-up.
fn mser_cut(values: &[f64]) -> usize {
    let errors = mser_errors(values);
    let least = errors.iter().map(|error| error.0).fold(f64::INFINITY, f64::min);
    let close = |(error, left): &(f64, f64)| *error <= least * (1.0 + TOLERATED_INCREASE / left);
    errors.iter().position(close).unwrap_or(0)
}

/// For each cut up to half, the squared standard error of the mean of the rest, and its number of values.
#[allow(clippy::cast_precision_loss, reason = "numbers of measurements")]
fn mser_errors(values: &[f64]) -> Vec<(f64, f64)> {
    // Relative to the center, so that the squares of large values do not cancel.
    let center = mean(values);
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut errors: Vec<(f64, f64)> = (1_u32..)
        .zip(values.iter().rev())
        .map(|(left, value)| {
            let left = f64::from(left);
            sum += value - center;
            squares += (value - center).powi(2);
            ((squares - sum * sum / left).max(0.0) / (left * left), left)
        })
        .collect();
    errors.reverse();
    errors.truncate(values.len() / 2 + 1);
    errors
}
