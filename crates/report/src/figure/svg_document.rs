//! A chart as a standalone graphic for print: all panels with the legend.

use ipcperf_model::printable::printable;
use maud::{Markup, PreEscaped, html};

use super::chart::{Chart, SeriesNames};
use super::draw::{PanelPosition, marks, panel};
use super::frame::{FONT_SIZE, Frame, PANEL_WIDTH, svg_number, text_width, truncate};
use super::legend::{LegendEntry, legend_entries};

const MAX_COLUMNS: usize = 2;
const MARGIN: f64 = 12.0;
/// Height of the title above a panel.
const TITLE_HEIGHT: f64 = 20.0;
/// Number of bold letters of the title that fit.
const MAX_TITLE_CHARS: usize = 48;
/// Height of a line of the legend.
const LINE_HEIGHT: f64 = 18.0;
const SWATCH_WIDTH: f64 = 36.0;

/// Returns the graphic as an SVG document.
pub fn svg_document(chart: &Chart, names: &SeriesNames) -> String {
    let columns = chart.panels.len().clamp(1, MAX_COLUMNS);
    #[allow(clippy::cast_precision_loss, reason = "columns are few")]
    let wide = MARGIN + columns as f64 * (PANEL_WIDTH + MARGIN);
    let (legend, below_legend) = legend(chart, names, wide);
    let (panels, bottom) = panels(chart, names, columns, below_legend);
    let (wide, high) = (svg_number(wide), svg_number(bottom));
    let document = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(wide) height=(high)
            viewBox={ "0 0 " (wide) " " (high) } font-size=(FONT_SIZE)
            font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" {
            title { (chart.title) }
            desc { (chart.notes.join(" ")) }
            rect width="100%" height="100%" fill="#ffffff" {}
            (marks())
            text x=(svg_number(MARGIN)) y="20" font-size="14" font-weight="bold" fill="#000000" {
                (chart.title)
            }
            (legend)
            (panels)
        }
    };
    // XML 1.0 forbids control characters even when escaped; other invisible ones would alter the surrounding text.
    let text = document.into_string();
    let text = printable(&text);
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{text}\n")
}

/// Draws the legend below the title. Also returns its lower end.
fn legend(chart: &Chart, names: &SeriesNames, wide: f64) -> (Markup, f64) {
    let (mut left, mut top) = (MARGIN, 30.0);
    let mut placed: Vec<(LegendEntry, f64, f64)> = Vec::new();
    for entry in legend_entries(chart, names) {
        let needed = SWATCH_WIDTH + text_width(&entry.name) + MARGIN;
        if left + needed > wide && left > MARGIN {
            (left, top) = (MARGIN, top + LINE_HEIGHT);
        }
        placed.push((entry, left, top));
        left += needed;
    }
    let markup = html! {
        @for (entry, left, top) in &placed {
            (entry.swatch(*left, *top))
            text x=(svg_number(left + SWATCH_WIDTH)) y=(svg_number(top + 10.0)) fill="#333333" { (entry.name) }
        }
    };
    (markup, top + LINE_HEIGHT + MARGIN)
}

/// Draws the panels in rows. Also returns the end of the last row.
fn panels(chart: &Chart, names: &SeriesNames, columns: usize, mut top: f64) -> (Markup, f64) {
    let mut markup = String::new();
    for row in chart.panels.chunks(columns) {
        let mut left = MARGIN;
        for one in row {
            let position = PanelPosition::Sheet { left, top: top + TITLE_HEIGHT };
            let drawn = html! {
                text x=(svg_number(left + 2.0)) y=(svg_number(top + 13.0)) font-weight="bold" fill="#000000" {
                    (truncate(&one.title, MAX_TITLE_CHARS))
                }
                (panel(chart, one, names, position))
            };
            markup += &drawn.into_string();
            left += PANEL_WIDTH + MARGIN;
        }
        let heights = row.iter().map(|one| Frame::new(chart, one, names).height);
        top += TITLE_HEIGHT + heights.fold(0.0, f64::max) + MARGIN;
    }
    (PreEscaped(markup), top)
}
