//! The figures of a report.

use maud::{Markup, html};

use crate::figure::{Chart, Key, PanelPosition, SeriesNames, legend_entries, marks, panel};

pub(super) fn section(charts: &[Chart], names: &SeriesNames) -> Markup {
    html! {
        p {
            "Point at a mark to read its value, or tab to a figure and use the arrow keys. The checkboxes hide and \
             show series. Axes of sizes, rates and times are logarithmic. All panels of a figure have the same axes. \
             In a distribution, only panels with the same size, mode, placement and options have the same axes."
        }
        @if charts.is_empty() { p { "No measured value can be shown in a figure." } }
        @for chart in charts { (figure(chart, names)) }
    }
}

/// Draws the outlines of the marks for all figures of the page.
pub(super) fn outlines() -> Markup {
    html! {
        svg width="0" height="0" aria-hidden="true" style="position:absolute" { (marks()) }
    }
}

pub(super) fn figure(chart: &Chart, names: &SeriesNames) -> Markup {
    html! {
        figure.chart id={ "figure-" (chart.name) } {
            h3 { (chart.title) }
            (legend(chart, names))
            div.panels.pairs[!chart.panels.len().is_multiple_of(3)] {
                @for one in &chart.panels {
                    div.panel-box { @if !one.title.is_empty() { h4 { (one.title) } } (panel(chart, one, names, PanelPosition::Standalone)) }
                }
            }
            figcaption { (chart.notes.join(" ")) }
        }
    }
}

fn legend(chart: &Chart, names: &SeriesNames) -> Markup {
    html! {
        div.legend {
            @for entry in legend_entries(chart, names) {
                @match entry.key {
                    Key::Series(number) => {
                        label {
                            input type="checkbox" data-series=(number) checked;
                            (entry.swatch(0.0, 0.0)) span { (entry.name) }
                        }
                    }
                    Key::Guide(_) => span.guide-name { (entry.swatch(0.0, 0.0)) span { (entry.name) } }
                }
            }
        }
    }
}
