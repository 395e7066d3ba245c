//! Pools the round-trip histograms that results files store.

use std::cell::RefCell;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::hdr_v2::{Scale, Stored};

/// Number of significant decimal digits of the histograms that ipcperf writes: values are kept to 0.1 %.
pub const DIGITS: u8 = 3;

/// Merges several histograms and returns each value, ns, in ascending order, with its count. A text is the content
/// of a sample's `round_trip_histogram`: HDR V2 in base64.
///
/// # Errors
/// Returns a description of the first text that is invalid.
pub fn pool<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Vec<(u64, u64)>, String> {
    let (mut pooled, mut bytes) = (Pooled::empty(), Vec::new());
    for text in texts {
        bytes.clear();
        STANDARD.decode_vec(text, &mut bytes).map_err(|error| format!("not base64: {error}"))?;
        pooled.add(&Stored::parse(&bytes)?)?;
    }
    Ok(pooled.ascending())
}

thread_local! {
    /// Empty bins for reuse: the histograms of thousands of cases are pooled one after another, and fresh memory
    /// costs more than the pooling.
    static EMPTY_BINS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Counts of several histograms. Histograms on ipcperf's own scale, nearly all of them, are counted by bin, of
/// which there are few. Those on another scale are counted by value.
struct Pooled {
    of_ours: Vec<u64>,
    /// Index of the first bin that is not empty; beyond the last bin if all are empty.
    first: usize,
    /// Index after the last bin that is not empty.
    end: usize,
    of_others: BTreeMap<u64, u64>,
}

impl Pooled {
    fn empty() -> Self {
        let of_ours = EMPTY_BINS.take();
        Self { of_ours, first: usize::MAX, end: 0, of_others: BTreeMap::new() }
    }

    fn add(&mut self, stored: &Stored<'_>) -> Result<(), String> {
        if Some(stored.scale) == ours() {
            return stored.each(|bin, count| {
                (self.first, self.end) = (self.first.min(bin), self.end.max(bin + 1));
                if bin >= self.of_ours.len() {
                    self.of_ours.resize((bin + 1).next_power_of_two(), 0);
                }
                self.of_ours[bin] = self.of_ours[bin].saturating_add(count);
            });
        }
        stored.each(|bin, count| add(&mut self.of_others, stored.scale.value(bin), count))
    }

    fn ascending(mut self) -> Vec<(u64, u64)> {
        let Some(scale) = ours() else { return Vec::new() };
        let used = self.of_ours.iter_mut().enumerate().take(self.end).skip(self.first);
        let used = used.filter(|(_, count)| **count > 0);
        let counts = used.map(|(bin, count)| (scale.value(bin), std::mem::take(count)));
        let counts: Vec<(u64, u64)> = counts.collect();
        EMPTY_BINS.set(self.of_ours);
        if self.of_others.is_empty() {
            return counts;
        }
        counts.into_iter().for_each(|(value, count)| add(&mut self.of_others, value, count));
        self.of_others.into_iter().collect()
    }
}

/// Returns the scale of the histograms that ipcperf writes.
fn ours() -> Option<Scale> {
    Scale::new(1, u32::from(DIGITS))
}

fn add(counts: &mut BTreeMap<u64, u64>, value: u64, count: u64) {
    let sum = counts.entry(value).or_default();
    *sum = sum.saturating_add(count);
}
