//! Observations of instruments and the cost of instrumentation.

use ipcperf_model::instrument_view::{
    InstrumentView, Lane, Log2Histogram, State, Table, Timeline, Value,
};
use ipcperf_results::ProbeEffect;
use ipcperf_results::analysis::{AnalyzedFile, ObservedCase, observed_cases, probe_effects};
use maud::{Markup, PreEscaped, html};

use super::lettered;
use crate::terminal::{amount_text, interval_text, observed_runs_text, value_text};

/// Dimensions of a time line.
const WIDTH: f64 = 1000.0;
const LANE_HEIGHT: f64 = 22.0;
const BAR_HEIGHT: f64 = 16.0;

/// Whether there are observations.
pub(super) fn has_observations(files: &[AnalyzedFile]) -> bool {
    files.iter().any(|file| !file.results.observations.is_empty())
}

pub(super) fn section(files: &[AnalyzedFile]) -> Markup {
    html! {
        p {
            "For each instrumented case, this section shows the observations of one run, the one with the median time \
             per message. A profile is the exception: it pools the samples of all valid runs in the CPU distance \
             class of that run. A run with an intrusive instrument, which slows the run down, has an uninstrumented \
             twin in the same block. The bandwidths, round trips and CPU times in the other sections come from runs \
             without intrusive instruments."
        }
        @for (file, letter) in lettered(files) {
            @if let Some(letter) = letter { h3 { (letter) } }
            (probe_effect_table(&probe_effects(&file.results.samples)))
            @for seen in observed_cases(&file.results).iter().filter(|seen| !seen.views.is_empty()) {
                (observation(seen))
            }
        }
    }
}

fn probe_effect_table(effects: &[ProbeEffect]) -> Markup {
    if effects.is_empty() {
        return html! {};
    }
    html! {
        div.scroll { table {
            caption { "Probe effect: time per message, divided by that of the run without instruments" }
            thead { tr {
                th { "case" } th { "instruments" } th { "CPU distance" } th.figure { "slowdown (factor)" }
                th.figure { "95 % interval" } th.figure { "Cliff's delta" } th.figure { "pairs" }
            } }
            tbody { @for effect in effects { tr {
                th scope="row" { (effect.cell) }
                td { (effect.instruments.join(", ")) }
                td { (effect.cpu_pair_class.as_deref().unwrap_or_default()) }
                td.figure { (format!("{:.3}", effect.slowdown)) }
                td.figure { (interval_text(effect)) }
                td.figure { (format!("{:.2}", effect.cliffs_delta)) }
                td.figure { (effect.pairs) }
            } } }
        } }
    }
}

/// Shows the observations of one instrument for one case.
pub(super) fn observation(observed: &ObservedCase) -> Markup {
    html! {
        details open {
            summary { b { (observed.instrument) } " of " (observed.case_id) " (" (observed_runs_text(observed)) ")" }
            @for picture in &observed.views {
                @match picture {
                    InstrumentView::Table(one) => (table(one)),
                    InstrumentView::Log2Histogram(one) => (histogram(one)),
                    InstrumentView::Timeline(one) => (timeline(one)),
                }
            }
            @if let Some(svg) = &observed.flame { (flame_graph(svg, &observed.case_id)) }
        }
    }
}

/// Embeds a flame graph. `svg` needs no escaping, because it is generated here from escaped names.
fn flame_graph(svg: &str, case_id: &str) -> Markup {
    html! {
        figure.chart {
            h4 { "Flame graph" }
            div.flame role="img" aria-label={ "Flame graph of " (case_id) } { (PreEscaped(svg)) }
            figcaption {
                "Each box is a function, drawn on top of its caller. The width of a box is the number of samples in \
                 the function and in the functions that it calls. _[k] marks functions of the kernel. Red is copying, \
                 blue scheduling, purple locking, yellow allocation, green kernel entry and exit. Point at a box for \
                 the name and share of the function."
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    let is_text = |column: usize| {
        table.rows.first().is_some_and(|row| matches!(row.get(column), Some(Value::Text(_))))
    };
    html! {
        div.scroll { table {
            caption { (table.title) }
            thead { tr { @for (column, heading) in table.headings.iter().enumerate() {
                th.figure[!is_text(column)] { (heading) }
            } } }
            tbody { @for row in &table.rows { tr { @for (column, value) in row.iter().enumerate() {
                td.figure[!is_text(column)] { (value_text(value)) }
            } } } }
        } }
    }
}

/// Draws a histogram as bars with their counts.
#[allow(clippy::cast_precision_loss, reason = "the length of a bar")]
fn histogram(histogram: &Log2Histogram) -> Markup {
    let most = histogram.rows.iter().map(|row| row.1).max().unwrap_or(0).max(1) as f64;
    html! {
        div.scroll { table.histogram {
            caption { (histogram.title) }
            thead { tr { th.figure { "from" } th { "distribution" } th.figure { "count" } } }
            tbody { @for &(least, count) in &histogram.rows { tr {
                td.figure { (amount_text(&histogram.kind, least)) }
                td { meter value=(count as f64 / most) { (count) } }
                td.figure { (count) }
            } } }
        } }
    }
}

fn timeline(timeline: &Timeline) -> Markup {
    let height = LANE_HEIGHT * timeline.lanes.len() as f64;
    let end = amount_text(&Value::Ns(0), timeline.end_ns);
    html! {
        figure.chart {
            h4 { (timeline.title) }
            svg.timeline viewBox={ "0 0 " (WIDTH) " " (height) } role="img"
                aria-label={ (timeline.title) ", to " (end) } {
                @for (index, lane) in timeline.lanes.iter().enumerate() {
                    (spans(lane, LANE_HEIGHT * index as f64, timeline.end_ns.max(1)))
                }
            }
            figcaption {
                "From the start of the timed region to " (end) "; from top to bottom: "
                (timeline.lanes.iter().map(|lane| lane.label.as_str()).collect::<Vec<_>>().join(", "))
                ". Full bars: running; half-height bars: waiting for a CPU; lines: asleep."
            }
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a place in a drawing")]
fn spans(lane: &Lane, top: f64, end_ns: u64) -> Markup {
    let x = |ns: u64| WIDTH * ns as f64 / end_ns as f64;
    html! {
        g class="color-0" fill="currentColor" { @for span in &lane.spans {
            @let height = match span.state {
                State::Running => BAR_HEIGHT,
                State::Runnable => BAR_HEIGHT / 2.0,
                State::Asleep => 1.5,
            };
            rect x=(format!("{:.2}", x(span.from_ns))) y=(top + LANE_HEIGHT - 3.0 - height)
                width=(format!("{:.2}", (x(span.to_ns) - x(span.from_ns)).max(0.3))) height=(height) {}
        } }
    }
}
