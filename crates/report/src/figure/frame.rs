//! Geometry of a panel: position of the plot, and room for its text.

use super::axis::Axis;
use super::chart::{Chart, Panel, SeriesNames};
use super::figure_spec::Statistic;
use super::quantity::Quantity;

/// Width of a panel: that of a phone, so that text appears there at its nominal size.
pub(super) const PANEL_WIDTH: f64 = 360.0;
/// Height of a panel without rows.
const PLAIN_PANEL_HEIGHT: f64 = 280.0;
/// Height of a row: its label with the dots below.
pub(super) const ROW_HEIGHT: f64 = 32.0;
/// Size of the font, units of the figure.
pub(super) const FONT_SIZE: f64 = 11.0;
/// Room above the plot, for the title of the vertical axis and the names of caches.
pub(super) const TOP_MARGIN: f64 = 32.0;
/// Room below the plot, for tick labels and the title of the horizontal axis.
const BOTTOM_MARGIN: f64 = 38.0;
/// Distance from a grid line down to the baseline of the label to its left.
pub(super) const Y_TICK_BASELINE: f64 = 4.0;
/// Distance from the plot down to the baseline of the tick labels and to that of the title.
pub(super) const X_TICK_BASELINE: f64 = 18.0;
pub(super) const X_TITLE_BASELINE: f64 = 34.0;
/// Height of letters above and below the baseline, in common sans-serif fonts.
const ASCENT: f64 = 0.93 * FONT_SIZE;
const DESCENT: f64 = 0.24 * FONT_SIZE;
const _: () = assert!(
    Y_TICK_BASELINE + DESCENT <= X_TICK_BASELINE - ASCENT,
    "at the corner, the labels of the two axes lie upon one another"
);
const _: () = assert!(
    X_TICK_BASELINE + DESCENT <= X_TITLE_BASELINE - ASCENT
        && X_TITLE_BASELINE + DESCENT <= BOTTOM_MARGIN
);
/// Minimum room on the right, for half a tick label.
const RIGHT_MARGIN: f64 = 14.0;
/// Maximum number of rows in a panel. The tables contain the rest.
pub(super) const MAX_ROWS: usize = 60;
/// Number of letters that fit in a row label, even in a wide sans-serif font.
pub(super) const MAX_ROW_LABEL_CHARS: usize = 54;
/// Maximum number of lines that are labeled at their ends.
const MAX_LABELED_LINES: usize = 4;
/// Maximum width of such a label. Longer names are only in the legend.
const MAX_LABEL_WIDTH: f64 = 84.0;

pub(super) const TEXT_COLOR: &str = "#333333";
/// Background color, drawn around text that crosses lines.
pub(super) const BACKGROUND_COLOR: &str = "#ffffff";
pub(super) const GRID_COLOR: &str = "#d8d8d8";
pub(super) const GUIDE_COLOR: &str = "#666666";

/// Returns the maximum width of a text in common sans-serif fonts.
#[allow(clippy::cast_precision_loss, reason = "words of a label")]
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * FONT_SIZE * 0.64
}

/// Returns the number of letters that fit in `room`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a panel is a few hundred wide"
)]
pub(super) fn chars_that_fit(room: f64) -> usize {
    (room / text_width("m")).max(1.0) as usize
}

/// Geometry of the plot within a panel.
pub(super) struct Frame<'a> {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    pub(super) x: &'a Axis,
    pub(super) y: &'a Axis,
    /// Labels at the ends of lines: text, height and series.
    pub(super) ends: Vec<(String, f64, usize)>,
}

/// Returns the height of a panel.
#[allow(clippy::cast_precision_loss, reason = "rows are few")]
pub(super) fn panel_height(panel: &Panel) -> f64 {
    match panel.content.rows.len() {
        0 => PLAIN_PANEL_HEIGHT,
        rows => TOP_MARGIN + rows as f64 * ROW_HEIGHT + BOTTOM_MARGIN,
    }
}

/// Formats a number for SVG, with one decimal: less than a tenth of a unit is invisible.
pub(super) fn svg_number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

impl<'a> Frame<'a> {
    pub(super) fn new(chart: &'a Chart, panel: &'a Panel, names: &SeriesNames) -> Self {
        let labels = panel.y.ticks();
        let widest = labels.iter().map(|(_, label)| text_width(label)).fold(2.0, f64::max);
        let bottom = panel_height(panel) - BOTTOM_MARGIN;
        let mut frame = Self {
            left: widest.max(6.0) + 8.0,
            right: PANEL_WIDTH - RIGHT_MARGIN,
            bottom,
            x: &panel.x,
            y: &panel.y,
            ends: Vec::new(),
        };
        frame.label_ends(chart, panel, names);
        frame
    }

    /// Labels the ends of lines if there are few of them and the names are short.
    fn label_ends(&mut self, chart: &Chart, panel: &Panel, names: &SeriesNames) {
        let curves = &panel.content.curves;
        let has_lines = matches!(chart.statistic, Statistic::Median(_));
        if !has_lines || !panel.content.rows.is_empty() || curves.len() > MAX_LABELED_LINES {
            return;
        }
        let ends = curves.iter().filter_map(|curve| {
            let [_, value] = curve.line.last()?;
            Some((names.name(curve.series).to_owned(), self.y_at(*value)?, curve.series))
        });
        let mut ends: Vec<(String, f64, usize)> = ends.collect();
        let widest = ends.iter().map(|(name, ..)| text_width(name)).fold(0.0, f64::max);
        if widest > MAX_LABEL_WIDTH {
            return;
        }
        ends.sort_by(|(_, one, _), (_, other, _)| one.total_cmp(other));
        let mut lowest = TOP_MARGIN;
        for (_, height, _) in &mut ends {
            *height = height.max(lowest);
            lowest = *height + FONT_SIZE + 2.0;
        }
        self.right -= widest + 6.0;
        self.ends = ends;
    }

    pub(super) fn x_at(&self, value: f64) -> Option<f64> {
        self.x.position(value).map(|place| self.left + place * (self.right - self.left))
    }

    pub(super) fn y_at(&self, value: f64) -> Option<f64> {
        let position = self.y.position(value)?;
        let distance = position * (self.bottom - TOP_MARGIN);
        // Rows run downwards, with their dots below their labels.
        Some(if self.has_rows() {
            TOP_MARGIN + distance + ROW_HEIGHT / 4.0
        } else {
            self.bottom - distance
        })
    }

    pub(super) fn has_rows(&self) -> bool {
        self.y.quantity == Quantity::Case
    }

    pub(super) fn point_at(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.x_at(x)?, self.y_at(y)?))
    }
}

/// Truncates `text` to `max_chars` letters.
pub(super) fn truncate(text: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    text.chars().take(max_chars.saturating_sub(1)).chain(['…']).collect()
}
