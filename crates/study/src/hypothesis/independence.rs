//! Check of the assumption that blocks are independent, which every test makes.

use ipcperf_stats::{autocorrelation, normal_cdf, trend};

use super::evidence::{Independence, Part};

/// Number of blocks from which correlation counts as checked. With fewer, only obvious correlation is detectable.
const MIN_BLOCKS: usize = 25;
/// Share of independent series that may be called dependent because of their correlation.
const CORRELATION_ALPHA: f64 = 0.025;
/// Share of independent series that may be called dependent because of their trend.
const TREND_ALPHA: f64 = 0.01;

impl Independence {
    /// Describes the result.
    pub fn description(&self) -> String {
        let plain = if self.dependent { ": clearly dependent" } else { "" };
        format!("independence of the blocks: {}{plain}", self.statistics_text())
    }

    /// Describes the result for a claim that has too few blocks to check.
    pub(super) fn unchecked_description(&self) -> String {
        format!(
            "independence of the blocks could not be checked: there are fewer than {MIN_BLOCKS} of them ({})",
            self.statistics_text()
        )
    }

    fn statistics_text(&self) -> String {
        let lag = self.lag1.map(|lag1| format!("correlation of neighboring blocks {lag1:.2}"));
        let trend = self.trend_p.map(|p| format!("p of a trend {p:.3}"));
        let parts: Vec<String> = lag.into_iter().chain(trend).collect();
        if parts.is_empty() { "no statistics".to_owned() } else { parts.join(", ") }
    }

    /// Checks the series of one part among `parts`. The number of blocks is that of the shortest series.
    fn from_series(series: &[Vec<f64>], parts: usize) -> Option<Self> {
        let blocks = series.iter().map(Vec::len).min()?;
        let lags: Vec<f64> = series.iter().filter_map(|one| lag1(one)).collect();
        let lag1 = mean(&lags);
        let trends = series.iter().filter_map(|one| trend(&ranks(one))).map(|trend| trend.p_value);
        let trend_p = trends.reduce(f64::min).map(|p| (p * to_f64(series.len())).min(1.0));
        let parts = to_f64(parts);
        let is_correlated =
            lag1.is_some_and(|r| lag1_p_value(r, blocks) < CORRELATION_ALPHA / parts);
        let is_moving = trend_p.is_some_and(|p| p < TREND_ALPHA / parts);
        let checked = blocks >= MIN_BLOCKS;
        Some(Self { checked, lag1, trend_p, dependent: is_correlated || is_moving })
    }
}

/// Fills in the independence of each of `parts` and returns the overall result. The level is divided among the parts,
/// so that having many parts does not make them dependent. Dependence shared by all parts shows in their mean.
pub(super) fn check_independence(parts: &mut [Part]) -> Option<Independence> {
    let with_series = parts.iter().filter(|part| !part.series.is_empty()).count();
    for part in parts.iter_mut() {
        part.independence = Independence::from_series(&part.series, with_series);
    }
    let blocks = parts.iter().flat_map(|part| &part.series).map(Vec::len).min()?;
    let each: Vec<&Independence> =
        parts.iter().filter_map(|part| part.independence.as_ref()).collect();
    let lags: Vec<f64> = each.iter().filter_map(|one| one.lag1).collect();
    let lag1 = mean(&lags);
    let min_trend_p = each.iter().filter_map(|one| one.trend_p).reduce(f64::min);
    let is_common = lag1.is_some_and(|r| lag1_p_value(r, blocks) < CORRELATION_ALPHA);
    let is_of_one = each.len() == 1 && each[0].dependent;
    Some(Independence {
        checked: each.iter().all(|one| one.checked),
        lag1,
        trend_p: min_trend_p.map(|p| (p * to_f64(each.len())).min(1.0)),
        dependent: is_common || is_of_one,
    })
}

/// Returns the probability of a lag-1 correlation at least as large among this many independent blocks: approximately
/// normal with mean -1/n and variance 1/n (Wald and Wolfowitz 1943, Annals of Mathematical Statistics 14). The mean
/// over several series has no larger variance, however they are related.
fn lag1_p_value(lag1: f64, blocks: usize) -> f64 {
    let n = to_f64(blocks);
    normal_cdf(-(lag1 + 1.0 / n) * n.sqrt())
}

/// Returns the lag-1 correlation of ranks. With values, one outlier would hide what the others have in common.
fn lag1(series: &[f64]) -> Option<f64> {
    autocorrelation(&ranks(series), 1).ok()?.by_lag.first().copied()
}

/// Returns ranks from 1 in ascending order; tied values get their mean rank.
fn ranks(series: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let less = series.iter().filter(|other| *other < value).count();
        let equal = series.iter().filter(|other| *other == value).count();
        to_f64(less) + (to_f64(equal) + 1.0) / 2.0
    };
    series.iter().map(rank).collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / to_f64(values.len()))
}

#[allow(clippy::cast_precision_loss, reason = "a number of blocks or parts")]
const fn to_f64(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hypothesis::evidence::PartScope;

    fn part(series: Vec<f64>) -> Part {
        Part { series: vec![series], ..Part::new(PartScope::from_line("part"), 30) }
    }

    /// Returns a series without a pattern, half of it above the middle and half below.
    fn scattered(n: u32) -> Vec<f64> {
        (0..n).map(|k| f64::from(k * 7_919 % 101)).collect()
    }

    #[test]
    fn modes_that_last_and_values_that_rise_are_dependent() {
        let modes = (0..30).map(|k| f64::from(k / 5 % 2) + 0.001 * f64::from(k % 3)).collect();
        let rises = (0..30_u32).map(|k| f64::from(k) + 20.0 * f64::from(k % 2)).collect();
        for (series, is_dependent) in [(modes, true), (rises, true), (scattered(30), false)] {
            let found = check_independence(&mut [part(series)]).unwrap();
            assert_eq!((found.checked, found.dependent), (true, is_dependent), "{found:?}");
        }
    }

    #[test]
    fn what_all_parts_have_in_common_shows_in_their_mean() {
        let weak: Vec<f64> = (0..30).map(|k| f64::from(k / 2 * 11 % 31)).collect();
        let mut parts: Vec<Part> = (0..40).map(|_| part(weak.clone())).collect();
        let all = check_independence(&mut parts).unwrap();
        assert!(all.dependent && parts.iter().all(|part| part.independence.is_some()), "{all:?}");
        let mut mixed: Vec<Part> = (0..39).map(|_| part(scattered(30))).collect();
        mixed.push(part(weak));
        let all = check_independence(&mut mixed).unwrap();
        assert!(!all.dependent, "{all:?}");
    }

    #[test]
    fn an_outlier_hides_nothing_and_equal_values_have_nothing_to_see() {
        let mut modes: Vec<f64> = (0..30).map(|k| f64::from(k / 5 % 2)).collect();
        modes[7] = 1e6;
        assert!(check_independence(&mut [part(modes)]).unwrap().dependent);
        let equal = check_independence(&mut [part(vec![4.0; 30])]).unwrap();
        assert_eq!((equal.checked, equal.lag1, equal.dependent), (true, None, false));
        let few = check_independence(&mut [part(scattered(10))]).unwrap();
        assert_eq!((few.checked, few.dependent), (false, false));
        assert_eq!(check_independence(&mut [Part::new(PartScope::from_line("none"), 0)]), None);
    }
}
