//! Pools the round-trip histograms that results files store.

use std::cell::RefCell;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::hdr_v2::{EncodedHistogram, Scale};

/// Number of significant decimal digits of the histograms that ipcperf writes: values are kept to 0.1 %.
pub const DIGITS: u8 = 3;

/// Merges several histograms and returns each value, ns, in ascending order, with its count. A text is the content
/// of a sample's `round_trip_histogram`: HDR V2 in base64.
///
/// # Errors
/// Returns a description of the first text that is invalid.
pub fn pool<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Vec<(u64, u64)>, String> {
    let (mut pooled, mut bytes) = (PooledCounts::empty(), Vec::new());
    for text in texts {
        bytes.clear();
        STANDARD.decode_vec(text, &mut bytes).map_err(|error| format!("not base64: {error}"))?;
        pooled.add(&EncodedHistogram::parse(&bytes)?)?;
    }
    Ok(pooled.ascending())
}

/// Minimum number of values above a percentile; with fewer, single values decide it.
const MIN_ABOVE: f64 = 10.0;

/// Returns the q-quantile of `counts`, values in ascending order with their counts. `None` if too few values lie above it.
#[allow(clippy::cast_precision_loss, reason = "counts and times, good to 53 bits")]
#[must_use]
pub fn quantile(counts: &[(u64, u64)], q: f64) -> Option<f64> {
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    // A little more than the product: 0.01 is not a binary fraction, and 1,000 values are enough for p99.
    if (1.0 - q) * all as f64 * (1.0 + 1e-9) < MIN_ABOVE {
        return None;
    }
    let mut below = 0;
    let reaches = |(_, count): &&(u64, u64)| {
        below += count;
        below as f64 >= q * all as f64
    };
    counts.iter().find(reaches).map(|(value, _)| *value as f64)
}

thread_local! {
    /// Empty bins for reuse: the histograms of thousands of cases are pooled one after another, and fresh memory
    /// costs more than the pooling.
    static EMPTY_BINS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Counts of several histograms. Histograms on ipcperf's own scale, nearly all of them, are counted by bin, of
/// which there are few. Those on another scale are counted by value.
struct PooledCounts {
    own_scale_counts: Vec<u64>,
    /// Index of the first bin that is not empty; beyond the last bin if all are empty.
    first: usize,
    /// Index after the last bin that is not empty.
    end: usize,
    other_scale_counts: BTreeMap<u64, u64>,
}

impl PooledCounts {
    fn empty() -> Self {
        let of_ours = EMPTY_BINS.take();
        Self {
            own_scale_counts: of_ours,
            first: usize::MAX,
            end: 0,
            other_scale_counts: BTreeMap::new(),
        }
    }

    fn add(&mut self, stored: &EncodedHistogram<'_>) -> Result<(), String> {
        if Some(stored.scale) == own_scale() {
            return stored.for_each(|bin, count| {
                (self.first, self.end) = (self.first.min(bin), self.end.max(bin + 1));
                if bin >= self.own_scale_counts.len() {
                    self.own_scale_counts.resize((bin + 1).next_power_of_two(), 0);
                }
                self.own_scale_counts[bin] = self.own_scale_counts[bin].saturating_add(count);
            });
        }
        stored.for_each(|bin, count| {
            add(&mut self.other_scale_counts, stored.scale.value(bin), count);
        })
    }

    fn ascending(mut self) -> Vec<(u64, u64)> {
        let Some(scale) = own_scale() else { return Vec::new() };
        let used = self.own_scale_counts.iter_mut().enumerate().take(self.end).skip(self.first);
        let used = used.filter(|(_, count)| **count > 0);
        let counts = used.map(|(bin, count)| (scale.value(bin), std::mem::take(count)));
        let counts: Vec<(u64, u64)> = counts.collect();
        EMPTY_BINS.set(self.own_scale_counts);
        if self.other_scale_counts.is_empty() {
            return counts;
        }
        counts
            .into_iter()
            .for_each(|(value, count)| add(&mut self.other_scale_counts, value, count));
        self.other_scale_counts.into_iter().collect()
    }
}

/// Returns the scale of the histograms that ipcperf writes.
fn own_scale() -> Option<Scale> {
    Scale::new(1, u32::from(DIGITS))
}

fn add(counts: &mut BTreeMap<u64, u64>, value: u64, count: u64) {
    let sum = counts.entry(value).or_default();
    *sum = sum.saturating_add(count);
}
