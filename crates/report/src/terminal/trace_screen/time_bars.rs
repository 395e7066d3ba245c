//! Histograms of times over powers of two, each on one line: a bar for each power of two, or for several if there is
//! little room.

use ipcperf_model::instrument_view::Value;
use ipcperf_model::log2_histogram::{ROWS, lower_bound, row};

use crate::terminal::instrument_views::value_text;

/// Bars by height.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Common axis of several histograms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HistogramAxis {
    /// First row of a histogram with a count.
    first: usize,
    /// Number of bars.
    bars: usize,
    /// Number of rows, each a power of two, in a bar.
    step: usize,
}

impl HistogramAxis {
    /// Creates the axis of `histograms`, each with pairs of lower bound and count, with at most `room` bars; `None` if
    /// all counts are zero.
    pub(super) fn new<'a>(
        histograms: impl Iterator<Item = &'a [(u64, u64)]>,
        room: usize,
    ) -> Option<Self> {
        let counted = histograms.flatten().filter(|pair| pair.1 > 0).map(|pair| row(pair.0));
        let (first, last) = counted.fold(None, |ends: Option<(usize, usize)>, at| {
            Some(ends.map_or((at, at), |(first, last)| (first.min(at), last.max(at))))
        })?;
        let rows = last - first + 1;
        let step = rows.div_ceil(room.max(1));
        Some(Self { first, bars: rows.div_ceil(step), step })
    }

    /// Draws `histogram` with its largest bar at full height. A count that is not zero has a bar.
    pub(super) fn draw(&self, histogram: &[(u64, u64)]) -> String {
        let mut counts = vec![0_u64; self.bars];
        for &(least, count) in histogram {
            let bar = row(least).checked_sub(self.first).map(|at| at / self.step);
            if let Some(sum) = bar.and_then(|bar| counts.get_mut(bar)) {
                *sum = sum.saturating_add(count);
            }
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        counts.into_iter().map(|count| bar_char(count, most)).collect()
    }

    /// Describes both ends, and the factor from bar to bar.
    pub(super) fn describe(&self) -> String {
        let end = (self.first + self.bars * self.step).min(ROWS);
        let [from, to] = [self.first, end].map(|row| value_text(&Value::Ns(lower_bound(row))));
        format!("{from} to {to}, a factor of {} per bar", 1_u128 << self.step)
    }
}

fn bar_char(count: u64, most: u64) -> char {
    let height = (u128::from(count) * BARS.len() as u128).div_ceil(u128::from(most.max(1)));
    let place = usize::try_from(height).ok().and_then(|height| height.checked_sub(1));
    place.and_then(|place| BARS.get(place)).copied().unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: [(u64, u64); 3] = [(256, 80), (512, 10), (1024, 1)];
    const SLOW: [(u64, u64); 1] = [(4096, 2)];

    fn axis(room: usize) -> HistogramAxis {
        HistogramAxis::new([&FAST[..], &SLOW[..]].into_iter(), room).unwrap()
    }

    #[test]
    fn histograms_stand_below_each_other_on_one_axis() {
        assert_eq!(axis(26).draw(&FAST), "█▁▁  ");
        assert_eq!(axis(26).draw(&SLOW), "    █");
        assert_eq!(axis(26).describe(), "256 ns to 8.19 µs, a factor of 2 per bar");
    }

    #[test]
    fn a_bar_is_several_powers_of_two_if_there_is_little_room() {
        assert_eq!(axis(3).draw(&FAST), "█▁ ");
        assert_eq!(axis(3).draw(&SLOW), "  █");
        assert_eq!(axis(3).describe(), "256 ns to 16.4 µs, a factor of 4 per bar");
    }

    #[test]
    fn any_count_can_be_drawn() {
        let absurd = [(0, 1), (u64::MAX, u64::MAX), (1 << 62, u64::MAX)];
        let axis = HistogramAxis::new([&absurd[..]].into_iter(), 100).unwrap();
        let drawn = axis.draw(&absurd);
        assert!(drawn.starts_with('▁') && drawn.ends_with('█'), "{drawn}");
        assert_eq!(HistogramAxis::new([&[(256, 0)][..]].into_iter(), 9), None);
    }
}
