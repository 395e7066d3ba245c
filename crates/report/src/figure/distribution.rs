//! Cumulative distribution of single round trips, pooled over all valid repetitions of a case.

use std::collections::BTreeMap;

use ipcperf_model::round_trip_histogram::pool;
use ipcperf_model::units;
use ipcperf_results::analysis::CaseSummary;

use super::chart::{Content, Curve, Point, SeriesNames, Validity};
use super::group::Group;

/// Cumulative shares that get a mark.
const MARKED_SHARES: [f64; 8] = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999];
/// Number of steps of the line from 0 to nearly 1.
const STEPS: u32 = 200;
/// Cumulative share at which the line ends. The few trips beyond would determine the width of the figure.
const LAST_SHARE: f64 = 0.999;

/// Returns one curve for each series of the group.
pub(super) fn curves(group: &Group, names: &SeriesNames) -> Content {
    let mut wanted: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for case in &group.cases {
        wanted.insert(&case.case.case_id, Vec::new());
    }
    for sample in
        group.file.results.samples.iter().filter(|sample| sample.is_valid_uninstrumented())
    {
        let Some(histograms) = wanted.get_mut(sample.run.case.case_id.as_str()) else { continue };
        if group.heading.has_class(sample.cpu_pair_class.as_ref()) {
            histograms.extend(sample.round_trip_histogram.as_deref());
        }
    }
    let curve = |case: &&CaseSummary| {
        let histograms = wanted.get(case.case.case_id.as_str())?;
        let trips = RoundTrips::from_histograms(histograms)?;
        Some(curve(case, names.number(case)?, &trips))
    };
    Content { curves: group.cases.iter().filter_map(curve).collect(), rows: Vec::new() }
}

fn curve(case: &CaseSummary, series: usize, trips: &RoundTrips) -> Curve {
    let name = case.series();
    let point = |&share: &f64| {
        let ns = trips.quantile(share);
        let (part, time, n) = (units::percent(share), units::time(ns), trips.count);
        let words = format!("{name}: {part} of {n} round trips took at most {time}");
        Point { x: ns, y: share, weight: 1.0, validity: Validity::Valid, tooltip: words }
    };
    let shares = (0..STEPS).map(|step| f64::from(step) / f64::from(STEPS)).chain([LAST_SHARE]);
    Curve {
        series,
        line: shares.map(|share| [trips.quantile(share), share]).collect(),
        points: MARKED_SHARES.iter().map(point).collect(),
        ..Curve::default()
    }
}

/// Durations of round trips in ascending order, each with the number of trips of at most that duration.
struct RoundTrips {
    cumulated: Vec<(u64, u64)>,
    count: u64,
}

impl RoundTrips {
    /// Pools `histograms`. `None` if there are none or one cannot be read.
    fn from_histograms(histograms: &[&str]) -> Option<Self> {
        let pooled = pool(histograms.iter().copied()).ok()?;
        let mut count: u64 = 0;
        let cumulated = pooled.into_iter().map(|(ns, trips)| {
            count = count.saturating_add(trips);
            (ns, count)
        });
        let cumulated: Vec<(u64, u64)> = cumulated.collect();
        (count > 0).then_some(Self { cumulated, count })
    }

    /// Returns the shortest duration that `share` of the trips did not exceed, ns.
    #[allow(clippy::cast_precision_loss, reason = "times and shares for a picture")]
    fn quantile(&self, share: f64) -> f64 {
        let wanted = share * self.count as f64;
        let at = self.cumulated.partition_point(|(_, up_to)| (*up_to as f64) < wanted);
        self.cumulated.get(at).or(self.cumulated.last()).map_or(f64::NAN, |(ns, _)| *ns as f64)
    }
}
