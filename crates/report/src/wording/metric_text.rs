//! Values of cases as text.

use ipcperf_model::units::{bandwidth, percent, time};
use ipcperf_results::analysis::{MainFigure, Spread};

/// Formats the median with its unit.
pub(crate) fn median(figure: &MainFigure) -> String {
    value(figure, figure.spread().median)
}

/// Formats `value` in the unit of `figure`.
pub(crate) fn value(figure: &MainFigure, value: f64) -> String {
    match figure {
        MainFigure::Bandwidth(_) => bandwidth(value),
        MainFigure::RoundTrip(_) | MainFigure::PerMessage(_) | MainFigure::Latency(_) => {
            time(value)
        }
    }
}

/// Formats the interquartile range as a share of the median, or the number of repetitions if there are too few for a
/// spread.
pub(crate) fn spread_or_n(spread: &Spread) -> String {
    spread.relative_iqr().map_or_else(|| format!("n = {}", spread.n), percent)
}

/// Formats the middle half of the values, with `unit` as formatter, and the number of repetitions: `middle half 1 ns to
/// 2 ns, n = 9`, or `n = 2` if there are too few for a spread.
pub(crate) fn middle_half(spread: &Spread, unit: impl Fn(f64) -> String) -> String {
    let n = spread.n;
    match spread.quartiles() {
        Some([low, high]) => format!("middle half {} to {}, n = {n}", unit(low), unit(high)),
        None => format!("n = {n}"),
    }
}
