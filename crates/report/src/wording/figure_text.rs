//! Figures of cases as text.

use ipcperf_model::units::{bandwidth, percent, time};
use ipcperf_results::analysis::{Figure, Spread};

/// The median with its unit.
pub fn median(figure: &Figure) -> String {
    value(figure, figure.spread().median)
}

/// `value` in the unit that `figure` is of.
pub fn value(figure: &Figure, value: f64) -> String {
    match figure {
        Figure::Bandwidth(_) => bandwidth(value),
        Figure::RoundTrip(_) | Figure::PerMessage(_) => time(value),
    }
}

/// The interquartile range as a share of the median, or the number of repetitions where that is too small
/// for a spread.
pub fn spread_or_n(spread: &Spread) -> String {
    spread.relative_iqr().map_or_else(|| format!("n = {}", spread.n), percent)
}

/// The middle half of what `spread` is of, as `unit` writes it, and the number of repetitions:
/// `middle half 1 ns to 2 ns, n = 9`, or `n = 2` where that is too small for a spread.
pub fn middle_half(spread: &Spread, unit: impl Fn(f64) -> String) -> String {
    let n = spread.n;
    match spread.middle_half() {
        Some([low, high]) => format!("middle half {} to {}, n = {n}", unit(low), unit(high)),
        None => format!("n = {n}"),
    }
}
