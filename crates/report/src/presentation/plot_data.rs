//! Conversion of lines of cases to plots: names of axes, and traces.

use std::collections::BTreeMap;

use ipcperf_results::Sample;
use ipcperf_results::analysis::Spread;
use ipcperf_study::hypothesis::{Line, Point};
use ipcperf_study::{Better, Metric, is_size};

use crate::figure::{Quantity, Scale, Trace, TracePoint};

/// Returns the name of `metric` for runs like `example`.
pub(super) fn metric_name(metric: &Metric, example: Option<&Sample>) -> String {
    if *metric != Metric::MAIN {
        return metric.label().replace('_', " ");
    }
    let is_stream = example.is_some_and(|sample| sample.bandwidth_bytes_per_s.is_some());
    if is_stream { "bandwidth" } else { "mean round trip" }.to_owned()
}

/// Returns the name of the factor `over` in titles.
pub(super) fn factor_name(over: &str) -> String {
    match over {
        "buffer" => "buffer size".to_owned(),
        over => over.replace('_', " "),
    }
}

/// Returns an axis for `metric` with `scale`.
pub(super) fn metric_axis(metric: &Metric, lines: &[Line<'_>], scale: Scale) -> Quantity {
    let example = lines.iter().find_map(|line| line.example);
    Quantity::from_study(&metric_name(metric, example), metric.unit(example), scale)
}

/// Returns an axis for the factor `over`. Levels become rows if they are not numbers or there is only one.
pub(super) fn factor_axis(over: &str, lines: &[Line<'_>]) -> Quantity {
    let points = || lines.iter().flat_map(|line| &line.points);
    let is_number = |point: &Point| point.is_number && point.x > 0.0;
    let mut places = points().map(|point| point.x.to_bits());
    let first = places.next();
    if !points().all(is_number) || places.all(|place| Some(place) == first) {
        return Quantity::Case;
    }
    match over {
        "buffer" => Quantity::BufferBytes,
        over if is_size(over) => Quantity::from_study(over, "bytes", Scale::Log2),
        over => Quantity::from_study(over, "", Scale::Log10),
    }
}

/// Converts a line to a trace. Points without values are left out.
pub(super) fn to_trace(line: &Line<'_>) -> Trace {
    let to_point = |point: &Point| {
        let spread = Spread::from_values(&point.all_values())?;
        Some(TracePoint { x: point.x, label: point.label.clone(), spread, tooltip: None })
    };
    Trace { name: line.name.clone(), points: line.points.iter().filter_map(to_point).collect() }
}

/// Returns a note on the number of repetitions behind the medians and the better direction.
pub(super) fn medians_note(traces: &[Trace], better: Option<Better>) -> Option<String> {
    let counts = || traces.iter().flat_map(|trace| &trace.points).map(|point| point.spread.n);
    let (least, most) = (counts().min()?, counts().max()?);
    let n = if least < most { format!("{least} to {most}") } else { most.to_string() };
    let better = match better {
        Some(Better::Higher) => " Higher is better.",
        Some(Better::Lower) => " Lower is better.",
        None => "",
    };
    Some(format!(
        "Medians of the valid repetitions (n = {n}); bands cover the middle half of the repetitions.{better}"
    ))
}

/// Returns a note on the number of excluded runs.
pub(super) fn excluded_note(counts: &BTreeMap<&'static str, usize>) -> Option<String> {
    let each: Vec<String> = counts
        .iter()
        .map(|(reason, count)| {
            let runs = if *count == 1 { "run" } else { "runs" };
            format!("{count} {runs} {reason}")
        })
        .collect();
    (!each.is_empty()).then(|| format!("Excluded runs: {}.", each.join(", ")))
}
