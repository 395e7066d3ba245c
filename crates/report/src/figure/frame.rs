//! Where the plot lies in a panel, and how much room its words take.

use super::axis::Axis;
use super::chart::{Chart, Names, Panel};
use super::description::Statistic;
use super::quantity::Quantity;

/// A panel is this wide: a phone's width, so that its text is as large there as it says.
pub(super) const WIDTH: f64 = 360.0;
pub(super) const HEIGHT: f64 = 280.0;
/// What a row needs: its label, and its dots below.
pub(super) const ROW: f64 = 32.0;
pub(super) const FONT: f64 = 11.0;
/// Above the plot: the title of the axis that goes up, and the names of caches.
pub(super) const ABOVE: f64 = 32.0;
/// Below it: ticks, and the title of the axis across.
pub(super) const BELOW: f64 = 38.0;
/// From a line to the foot of the label that stands left of it.
pub(super) const BESIDE_TICK: f64 = 4.0;
/// From the plot down to the foot of a tick's label, and to that of the title.
pub(super) const TICK_BELOW: f64 = 18.0;
pub(super) const TITLE_BELOW: f64 = 34.0;
/// How far letters reach above their foot and below it, in common fonts without serifs.
pub(super) const ASCENT: f64 = 0.93 * FONT;
pub(super) const DESCENT: f64 = 0.24 * FONT;
const _: () = assert!(
    BESIDE_TICK + DESCENT <= TICK_BELOW - ASCENT,
    "at the corner, the labels of the two axes lie upon one another"
);
const _: () =
    assert!(TICK_BELOW + DESCENT <= TITLE_BELOW - ASCENT && TITLE_BELOW + DESCENT <= BELOW);
/// At least this is left free on the right, for half a tick's label.
pub(super) const RIGHT: f64 = 14.0;
/// Letters that fit the label of a row, in a font as wide as fonts without serifs come.
pub(super) const ROW_LETTERS: usize = 54;
/// Lines are labelled at their ends where there are no more than these.
pub(super) const MOST_LABELLED: usize = 4;
/// Longer names stay in the legend.
pub(super) const LONGEST_LABEL: f64 = 84.0;

pub(super) const TEXT: &str = "#333333";
/// What lies around words that cross lines.
pub(super) const GROUND: &str = "#ffffff";
pub(super) const FAINT: &str = "#d8d8d8";
pub(super) const GUIDE: &str = "#666666";

/// How wide a text is at most, in common fonts without serifs.
#[allow(clippy::cast_precision_loss, reason = "words of a label")]
pub(super) fn width(text: &str) -> f64 {
    text.chars().count() as f64 * FONT * 0.64
}

/// How many letters fit `room`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a panel is a few hundred wide"
)]
pub(super) fn letters(room: f64) -> usize {
    (room / width("m")).max(1.0) as usize
}

/// Where the plot lies in a panel.
pub(super) struct Frame<'a> {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    pub(super) x: &'a Axis,
    pub(super) y: &'a Axis,
    /// Labels at the ends of the lines: text, height of the end.
    pub(super) ends: Vec<(String, f64, usize)>,
}

/// How high a panel is.
#[allow(clippy::cast_precision_loss, reason = "rows are few")]
pub(super) fn height(panel: &Panel) -> f64 {
    match panel.content.rows.len() {
        0 => HEIGHT,
        rows => ABOVE + rows as f64 * ROW + BELOW,
    }
}

/// A number as it stands in SVG: tenths of a unit are below what is seen.
pub(super) fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

impl<'a> Frame<'a> {
    pub(super) fn new(chart: &'a Chart, panel: &'a Panel, names: &Names) -> Self {
        let labels = panel.y.ticks();
        let widest = labels.iter().map(|(_, label)| width(label)).fold(2.0, f64::max);
        let bottom = height(panel) - BELOW;
        let mut frame = Self {
            left: widest.max(6.0) + 8.0,
            right: WIDTH - RIGHT,
            bottom,
            x: &panel.x,
            y: &panel.y,
            ends: Vec::new(),
        };
        frame.label_ends(chart, panel, names);
        frame
    }

    /// Labels at the ends of lines, where they are few and their names short.
    fn label_ends(&mut self, chart: &Chart, panel: &Panel, names: &Names) {
        let curves = &panel.content.curves;
        let is_over_sizes = matches!(chart.statistic, Statistic::Median(_));
        if !is_over_sizes || !panel.content.rows.is_empty() || curves.len() > MOST_LABELLED {
            return;
        }
        let ends = curves.iter().filter_map(|curve| {
            let [_, value] = curve.line.last()?;
            Some((names.name(curve.series).to_owned(), self.up(*value)?, curve.series))
        });
        let mut ends: Vec<(String, f64, usize)> = ends.collect();
        let widest = ends.iter().map(|(name, ..)| width(name)).fold(0.0, f64::max);
        if widest > LONGEST_LABEL {
            return;
        }
        ends.sort_by(|(_, one, _), (_, other, _)| one.total_cmp(other));
        let mut lowest = ABOVE;
        for (_, height, _) in &mut ends {
            *height = height.max(lowest);
            lowest = *height + FONT + 2.0;
        }
        self.right -= widest + 6.0;
        self.ends = ends;
    }

    pub(super) fn across(&self, value: f64) -> Option<f64> {
        self.x.place(value).map(|place| self.left + place * (self.right - self.left))
    }

    pub(super) fn up(&self, value: f64) -> Option<f64> {
        let place = self.y.place(value)?;
        Some(match self.y.rows() {
            _ if !self.has_rows() => self.bottom - place * (self.bottom - ABOVE),
            // Rows are read downwards, and their dots lie below their labels.
            _ => ABOVE + place * (self.bottom - ABOVE) + ROW / 4.0,
        })
    }

    pub(super) fn has_rows(&self) -> bool {
        self.y.quantity == Quantity::Case
    }

    pub(super) fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.across(x)?, self.up(y)?))
    }
}

/// `text`, or as much of it as fits `most` letters.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
