//! Round trips of several peers as one distribution.

use ipcperf_model::{Failure, RoundTrips};

use crate::histogram::merge_latencies;

/// Merges the round trips of peers, each with the number of trips that it made; `None` if there are none. The mean is that
/// of all trips, and the percentiles are those of the timed ones.
///
/// # Errors
/// Returns [`ipcperf_model::FailureKind::Worker`] if a histogram cannot be read.
#[allow(clippy::cast_precision_loss, reason = "a mean, good to 53 bits")]
pub(super) fn merge(peers: &[(&RoundTrips, u64)]) -> Result<Option<RoundTrips>, Failure> {
    let Some(timed_every) = peers.iter().map(|(trips, _)| trips.timed_every).max() else {
        return Ok(None);
    };
    if let [(only, _)] = peers {
        return Ok(Some((*only).clone()));
    }
    let made: u64 = peers.iter().map(|(_, made)| made).sum();
    let sum_ns: f64 =
        peers.iter().map(|(trips, made)| trips.latencies.mean_ns * *made as f64).sum();
    let histograms = peers.iter().map(|(trips, _)| trips.latencies.histogram.as_str());
    let latencies = merge_latencies(histograms, sum_ns / made.max(1) as f64)?;
    Ok(Some(RoundTrips { timed_every, latencies }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::TickHistogram;

    fn trips(times_ns: &[u64]) -> RoundTrips {
        let mut histogram = TickHistogram::new_touched();
        times_ns.iter().for_each(|ns| histogram.record(*ns));
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        let mean_ns = times_ns.iter().sum::<u64>() as f64 / times_ns.len() as f64;
        histogram.report(1.0, 1, mean_ns).unwrap()
    }

    #[test]
    fn peers_count_by_their_trips() {
        let (one, other) = (trips(&[100, 100, 100]), trips(&[500]));
        let merged = merge(&[(&one, 3), (&other, 1)]).unwrap().unwrap().latencies;
        assert_eq!((merged.p50_ns, merged.max_ns, merged.mean_ns), (Some(100), 500, 200.0));
        assert_eq!(merge(&[(&one, 3)]).unwrap().unwrap(), one);
        assert_eq!(merge(&[]).unwrap(), None);
    }
}
