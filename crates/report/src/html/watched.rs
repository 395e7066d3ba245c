//! Observations of instruments and the cost of instrumentation.

use ipcperf_model::instrument_view::{Lane, Picture, Quantised, State, Table, Timeline, Value};
use ipcperf_results::ProbeEffect;
use ipcperf_results::analysis::{Observed, Summarised, observed, probe_effects};
use maud::{Markup, PreEscaped, html};

use super::lettered;
use crate::terminal::{amount_text, interval_words, value_text};

/// Dimensions of a time line.
const WIDTH: f64 = 1000.0;
const LANE: f64 = 22.0;
const BAR: f64 = 16.0;

/// Whether there are observations.
pub(super) fn is_any(files: &[Summarised]) -> bool {
    files.iter().any(|file| !file.results.observations.is_empty())
}

pub(super) fn section(files: &[Summarised]) -> Markup {
    html! {
        p {
            "What instruments saw of one run of each case that they watched: the one whose messages took \
             neither more nor less time than most. A run that is disturbed by being watched has an undisturbed \
             twin in the same block; figures everywhere else are of those."
        }
        @for (file, letter) in lettered(files) {
            @if let Some(letter) = letter { h3 { (letter) } }
            (cost(&probe_effects(&file.results.samples)))
            @for seen in observed(&file.results).iter().filter(|seen| !seen.pictures.is_empty()) { (one(seen)) }
        }
    }
}

fn cost(effects: &[ProbeEffect]) -> Markup {
    if effects.is_empty() {
        return html! {};
    }
    html! {
        div.scroll { table {
            caption { "What being watched cost: time of a message, over that of the undisturbed twin" }
            thead { tr {
                th { "case" } th { "watched by" } th { "CPUs" } th.figure { "slower by a factor of" }
                th.figure { "95 % interval" } th.figure { "Cliff's delta" } th.figure { "pairs" }
            } }
            tbody { @for effect in effects { tr {
                th scope="row" { (effect.cell) }
                td { (effect.instruments.join(", ")) }
                td { (effect.cpu_pair_class.as_deref().unwrap_or_default()) }
                td.figure { (format!("{:.3}", effect.slowdown)) }
                td.figure { (interval_words(effect)) }
                td.figure { (format!("{:.2}", effect.cliffs_delta)) }
                td.figure { (effect.pairs) }
            } } }
        } }
    }
}

/// Shows the observations of one instrument for one case.
pub(super) fn one(seen: &Observed) -> Markup {
    html! {
        details open {
            summary { b { (seen.instrument) } " of " (seen.case_id) " (run " (seen.run_id) ")" }
            @for picture in &seen.pictures {
                @match picture {
                    Picture::Table(one) => (table(one)),
                    Picture::Quantised(one) => (quantised(one)),
                    Picture::Timeline(one) => (timeline(one)),
                }
            }
            @if let Some(svg) = &seen.flame { (flame(svg, &seen.case_id)) }
        }
    }
}

/// Embeds a flame graph. `svg` needs no escaping, because it is generated here from escaped names.
fn flame(svg: &str, case_id: &str) -> Markup {
    html! {
        figure.chart {
            h4 { "Flame graph" }
            div.flame role="img" aria-label={ "Flame graph of " (case_id) } { (PreEscaped(svg)) }
            figcaption {
                "Each box is a function, on the one that called it, as wide as it has samples; a function of the \
                 kernel is marked by _[k]. Red copies, blue schedules, purple locks, yellow allocates, green leads \
                 into the kernel and out of it. Point at a box for its name and share."
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    let is_words = |column: usize| {
        table.rows.first().is_some_and(|row| matches!(row.get(column), Some(Value::Text(_))))
    };
    html! {
        div.scroll { table {
            caption { (table.title) }
            thead { tr { @for (column, heading) in table.headings.iter().enumerate() {
                th.figure[!is_words(column)] { (heading) }
            } } }
            tbody { @for row in &table.rows { tr { @for (column, value) in row.iter().enumerate() {
                td.figure[!is_words(column)] { (value_text(value)) }
            } } } }
        } }
    }
}

/// Draws a histogram as bars with their counts.
#[allow(clippy::cast_precision_loss, reason = "the length of a bar")]
fn quantised(quantised: &Quantised) -> Markup {
    let most = quantised.rows.iter().map(|row| row.1).max().unwrap_or(0).max(1) as f64;
    html! {
        div.scroll { table.quantised {
            caption { (quantised.title) }
            thead { tr { th.figure { "from" } th { "distribution" } th.figure { "count" } } }
            tbody { @for &(least, count) in &quantised.rows { tr {
                td.figure { (amount_text(&quantised.kind, least)) }
                td { meter value=(count as f64 / most) { (count) } }
                td.figure { (count) }
            } } }
        } }
    }
}

fn timeline(timeline: &Timeline) -> Markup {
    let height = LANE * timeline.lanes.len() as f64;
    let end = amount_text(&Value::Ns(0), timeline.end_ns);
    html! {
        figure.chart {
            h4 { (timeline.title) }
            svg.timeline viewBox={ "0 0 " (WIDTH) " " (height) } role="img"
                aria-label={ (timeline.title) ", to " (end) } {
                @for (index, lane) in timeline.lanes.iter().enumerate() {
                    (spans(lane, LANE * index as f64, timeline.end_ns.max(1)))
                }
            }
            figcaption {
                "From the beginning of the timed region to " (end) "; from above: "
                (timeline.lanes.iter().map(|lane| lane.label.as_str()).collect::<Vec<_>>().join(", "))
                ". Full bars run, half ones wait for a CPU, lines sleep."
            }
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a place in a drawing")]
fn spans(lane: &Lane, top: f64, end_ns: u64) -> Markup {
    let x = |ns: u64| WIDTH * ns as f64 / end_ns as f64;
    html! {
        g class="colour-0" fill="currentColor" { @for span in &lane.spans {
            @let height = match span.state {
                State::Running => BAR,
                State::Runnable => BAR / 2.0,
                State::Asleep => 1.5,
            };
            rect x=(format!("{:.2}", x(span.from_ns))) y=(top + LANE - 3.0 - height)
                width=(format!("{:.2}", (x(span.to_ns) - x(span.from_ns)).max(0.3))) height=(height) {}
        } }
    }
}
