//! Round trips recorded in ticks, reported in nanoseconds.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2Serializer};
use ipcperf_model::round_trip_histogram::{DIGITS, pool};
use ipcperf_model::{Failure, FailureKind, Latencies, RoundTrips, SendDelays};

/// Largest recorded value: about ten minutes in ns, minutes in ticks. Larger values count as this one.
const MAX_VALUE: u64 = 1 << 39;

/// A histogram of time stamp counter differences, allocated and touched before the timed loop.
#[derive(Debug)]
pub struct TickHistogram {
    ticks: Histogram<u64>,
}

impl TickHistogram {
    /// Creates an empty histogram with all of its memory present.
    ///
    /// # Panics
    /// Never: the bounds are constants that HDR accepts.
    #[must_use]
    pub fn new_touched() -> Self {
        let mut ticks = Histogram::new_with_bounds(1, MAX_VALUE, DIGITS).expect("constant bounds");
        ticks.reset();
        Self { ticks }
    }

    /// Adds one value; takes 1 to 5 ns and allocates nothing.
    #[inline]
    pub fn record(&mut self, ticks: u64) {
        self.ticks.saturating_record(ticks);
    }

    /// Discards all recorded values.
    pub fn clear(&mut self) {
        self.ticks.reset();
    }

    /// Whether no values were recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ticks.is_empty()
    }

    /// Distribution in ns, with ticks of `ns_per_tick`.
    ///
    /// # Errors
    /// Returns [`FailureKind::Worker`] if HDR fails to encode, which it does for no histogram of this type.
    pub fn report(
        &self,
        ns_per_tick: f64,
        timed_every: u64,
        mean_ns: f64,
    ) -> Result<RoundTrips, Failure> {
        let ns = to_nanoseconds(&self.ticks, ns_per_tick);
        let at = |quantile| Some(ns.value_at_quantile(quantile));
        Ok(RoundTrips { timed_every, latencies: latencies(&ns, mean_ns, at)? })
    }
}

impl TickHistogram {
    /// Distribution of latencies in ns, with ticks of `ns_per_tick`.
    ///
    /// # Errors
    /// As for [`Self::report`].
    pub fn latencies(&self, ns_per_tick: f64) -> Result<Latencies, Failure> {
        let ns = to_nanoseconds(&self.ticks, ns_per_tick);
        latencies(&ns, ns.mean(), |quantile| percentile(&ns, quantile))
    }

    /// Distribution of delays in ns, with ticks of `ns_per_tick`.
    #[must_use]
    pub fn delays(&self, ns_per_tick: f64) -> SendDelays {
        let ns = to_nanoseconds(&self.ticks, ns_per_tick);
        SendDelays {
            messages: ns.len(),
            p50_ns: percentile(&ns, 0.5),
            p95_ns: percentile(&ns, 0.95),
            p99_ns: percentile(&ns, 0.99),
            p999_ns: percentile(&ns, 0.999),
            max_ns: (!ns.is_empty()).then(|| ns.max()),
        }
    }
}

/// Distribution of what the encoded `histograms` hold together, ns, with the mean `mean_ns`. As in that of a single peer's
/// round trips, percentiles are never null.
///
/// # Errors
/// Returns [`FailureKind::Worker`] if one of them was not encoded here.
pub fn merge_latencies<'a>(
    histograms: impl IntoIterator<Item = &'a str>,
    mean_ns: f64,
) -> Result<Latencies, Failure> {
    let ns = merged(histograms)?;
    latencies(&ns, mean_ns, |quantile| Some(ns.value_at_quantile(quantile)))
}

/// Like [`merge_latencies`], for paced runs: percentiles may be null, and the mean is that of the histograms.
///
/// # Errors
/// As for [`merge_latencies`].
pub fn merge_paced_latencies<'a>(
    histograms: impl IntoIterator<Item = &'a str>,
) -> Result<Latencies, Failure> {
    let ns = merged(histograms)?;
    latencies(&ns, ns.mean(), |quantile| percentile(&ns, quantile))
}

fn merged<'a>(histograms: impl IntoIterator<Item = &'a str>) -> Result<Histogram<u64>, Failure> {
    let mut ns = Histogram::new_with_bounds(1, MAX_VALUE, DIGITS).expect("constant bounds");
    let pooled = pool(histograms).map_err(|error| Failure::new(FailureKind::Worker, error))?;
    for (value, count) in pooled {
        ns.saturating_record_n(value, count);
    }
    Ok(ns)
}

/// Builds the distribution of `ns` with the mean `mean_ns` and the percentiles that `at` returns.
fn latencies(
    ns: &Histogram<u64>,
    mean_ns: f64,
    at: impl Fn(f64) -> Option<u64>,
) -> Result<Latencies, Failure> {
    Ok(Latencies {
        histogram: encode(ns)?,
        p50_ns: at(0.5),
        p90_ns: at(0.9),
        p99_ns: at(0.99),
        p999_ns: at(0.999),
        max_ns: ns.max(),
        mean_ns,
    })
}

/// Minimum number of values beyond a percentile; with fewer, single values decide it.
const MIN_BEYOND: f64 = 10.0;

/// Returns a percentile, or `None` if too few values lie beyond it.
#[allow(clippy::cast_precision_loss, reason = "a number of messages")]
fn percentile(ns: &Histogram<u64>, quantile: f64) -> Option<u64> {
    // A little less than the product: 0.01 is not a binary fraction, and 1,000 messages are enough for p99.
    let beyond = (1.0 - quantile) * ns.len() as f64 * (1.0 + 1e-9);
    (beyond >= MIN_BEYOND).then(|| ns.value_at_quantile(quantile))
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "values below 2^39 times a small positive factor, kept to three digits anyway"
)]
fn to_nanoseconds(ticks: &Histogram<u64>, ns_per_tick: f64) -> Histogram<u64> {
    let mut ns = Histogram::new_with_bounds(1, MAX_VALUE, DIGITS).expect("constant bounds");
    for step in ticks.iter_recorded() {
        let value = ticks.median_equivalent(step.value_iterated_to());
        ns.saturating_record_n((value as f64 * ns_per_tick).round() as u64, step.count_at_value());
    }
    ns
}

fn encode(ns: &Histogram<u64>) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(ns, &mut bytes)
        .map_err(|error| Failure::new(FailureKind::Worker, format!("encoding: {error}")))?;
    Ok(STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_ticks_and_base64_to_a_thousandth() {
        let mut histogram = TickHistogram::new_touched();
        (1..=1_000).for_each(|value| histogram.record(value * 2_000));
        let trips = histogram.report(0.5, 1, 500.5e3).unwrap().latencies;
        let back = pool([trips.histogram.as_str()]).unwrap();
        assert_eq!(back.iter().map(|(_, count)| count).sum::<u64>(), 1_000);
        for ((value, _), wanted) in back.iter().zip((1_000..).step_by(1_000)) {
            assert!(value.abs_diff(wanted) <= wanted.div_ceil(1_000), "{value}, not {wanted}");
        }
        assert!(trips.p50_ns.unwrap().abs_diff(500_000) <= 1_000, "{trips:?}");
        assert!(trips.max_ns.abs_diff(1_000_000) <= 2_000, "{}", trips.max_ns);
    }

    #[test]
    fn a_percentile_needs_ten_values_beyond_it() {
        let latencies = |values: u64| {
            let mut histogram = TickHistogram::new_touched();
            (1..=values).for_each(|value| histogram.record(value));
            (histogram.latencies(1.0).unwrap(), histogram.delays(1.0))
        };
        let (of_999, of_1000) = (latencies(999), latencies(1_000));
        assert_eq!((of_999.0.p90_ns.is_some(), of_999.0.p99_ns), (true, None));
        assert_eq!((of_1000.0.p99_ns, of_1000.1.p99_ns), (Some(990), Some(990)));
        assert_eq!((of_1000.0.p999_ns, latencies(10_000).0.p999_ns.is_some()), (None, true));
        assert_eq!(latencies(0).1, SendDelays::default());
    }

    #[test]
    fn pooled_histograms_hold_what_each_held() {
        let one = |value| {
            let mut histogram = TickHistogram::new_touched();
            (0..3).for_each(|_| histogram.record(value));
            histogram.report(1.0, 1, 0.0).unwrap().latencies.histogram
        };
        let (low, high) = (one(100), one(500));
        let pooled = pool([low.as_str(), &high, &low]).unwrap();
        assert_eq!(pooled, [(100, 6), (500, 3)]);
        assert!(pool([high.as_str(), "%%"]).is_err());
        assert_eq!(pool([low.as_str()]).unwrap(), [(100, 3)], "nothing is left of the last");
        assert_eq!(pool([]).unwrap(), []);
    }

    #[test]
    fn histograms_of_another_scale_are_pooled_by_value() {
        let mut coarse = Histogram::new_with_bounds(1, MAX_VALUE, 2).unwrap();
        coarse.record_n(100, 5).unwrap();
        let mut ours = TickHistogram::new_touched();
        [100, 300].into_iter().for_each(|value| ours.record(value));
        let ours = ours.report(1.0, 1, 0.0).unwrap().latencies.histogram;
        let pooled = pool([encode(&coarse).unwrap().as_str(), &ours]).unwrap();
        assert_eq!(pooled, [(100, 6), (300, 1)]);
    }

    #[test]
    fn foreign_text_is_refused_in_words() {
        assert!(pool(["%%"]).unwrap_err().contains("base64"));
        assert!(pool(["AAAA"]).unwrap_err().contains("HDR"));
    }
}
