//! The figures of a report.

use maud::{Markup, html};

use crate::figure::{Chart, Key, Names, Standing, entries, marks, panel};

pub(super) fn section(charts: &[Chart], names: &Names) -> Markup {
    html! {
        p {
            "Point at a mark, or tab to a picture and use the arrow keys, to read its value. Series \
             are switched on and off by their boxes. Axes of sizes, rates and times are logarithmic; \
             the panels of a figure share theirs, those of distributions only where the same was asked."
        }
        @if charts.is_empty() { p { "Nothing was measured that a figure could show." } }
        @for chart in charts { (figure(chart, names)) }
    }
}

/// Draws the outlines of the marks for all figures of the page.
pub(super) fn outlines() -> Markup {
    html! {
        svg width="0" height="0" aria-hidden="true" style="position:absolute" { (marks()) }
    }
}

pub(super) fn figure(chart: &Chart, names: &Names) -> Markup {
    html! {
        figure.chart id={ "figure-" (chart.name) } {
            h3 { (chart.title) }
            (legend(chart, names))
            div.panels.pairs[!chart.panels.len().is_multiple_of(3)] {
                @for one in &chart.panels {
                    div.panel-box { @if !one.title.is_empty() { h4 { (one.title) } } (panel(chart, one, names, Standing::Page)) }
                }
            }
            figcaption { (chart.notes.join(" ")) }
        }
    }
}

fn legend(chart: &Chart, names: &Names) -> Markup {
    html! {
        div.legend {
            @for entry in entries(chart, names) {
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
