//! Geometry of a panel: position of the plot, and room for its text.

use super::axis::Axis;
use super::chart::{Chart, Finding, FindingAxis, Panel, SeriesNames};
use super::figure_spec::Statistic;
use super::quantity::Quantity;

/// Width of a panel: a little more than that of a phone, so that text is legible there and not huge on a desktop.
pub(super) const PANEL_WIDTH: f64 = 400.0;
/// Height of a plot without rows.
const PLAIN_PLOT_HEIGHT: f64 = 220.0;
/// Height of a row: its label with the dots below.
pub(super) const ROW_HEIGHT: f64 = 32.0;
/// Size of the font, units of the figure.
pub(super) const FONT_SIZE: f64 = 11.0;
/// Room above the plot, for the title of the vertical axis and the names of caches. The labels of findings need more.
const TOP_MARGIN: f64 = 32.0;
/// Baseline of the title of the vertical axis.
pub(super) const Y_TITLE_BASELINE: f64 = 12.0;
/// Height of a line of text.
const LINE_HEIGHT: f64 = FONT_SIZE + 2.0;
/// Maximum number of lines of labels above the plot. Further labels are left out; the page has all values as text.
const MAX_LABEL_LINES: usize = 8;
/// Gap between two labels on one line.
const LABEL_GAP: f64 = 8.0;
/// Width of the sample of the mark before the label of a finding.
pub(super) const SAMPLE_WIDTH: f64 = 14.0;
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
/// Maximum width of a label at the end of a line. Longer names are only in the legend.
const MAX_END_LABEL_WIDTH: f64 = 110.0;
/// Position on the horizontal axis, from 0 to 1, beyond which the end of a line is near enough to its label.
const MIN_LABELED_END: f64 = 0.75;
/// Distance from the plot to the label at the end of a line, with its mark.
pub(super) const END_LABEL_OFFSET: f64 = 14.0;

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
fn chars_that_fit(room: f64) -> usize {
    (room / text_width("m")).max(1.0) as usize
}

/// Geometry of the plot within a panel.
pub(super) struct Frame<'a> {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// Height of the panel.
    pub(super) height: f64,
    pub(super) x: &'a Axis,
    pub(super) y: &'a Axis,
    /// Labels at the ends of lines.
    pub(super) ends: Vec<EndLabel>,
    /// Labels of the findings above the plot, in the order of the findings. `None` if there is no room.
    pub(super) finding_labels: Vec<Option<FindingLabel>>,
}

/// Label at the end of a line.
pub(super) struct EndLabel {
    pub(super) name: String,
    pub(super) height: f64,
    pub(super) series: usize,
}

/// Label of a finding.
pub(super) struct FindingLabel {
    pub(super) text: String,
    pub(super) left: f64,
    pub(super) baseline: f64,
}

/// Formats a number for SVG, with one decimal: less than a tenth of a unit is invisible.
pub(super) fn svg_number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

impl<'a> Frame<'a> {
    pub(super) fn new(chart: &Chart, panel: &'a Panel, names: &SeriesNames) -> Self {
        let labels = panel.y.ticks();
        let widest = labels.iter().map(|(_, label)| text_width(label)).fold(2.0, f64::max);
        let names_of_ends = end_names(chart, panel, names);
        let room = names_of_ends.iter().map(|(name, _)| text_width(name)).fold(0.0, f64::max);
        let mut frame = Self {
            left: widest.max(6.0) + 8.0,
            right: PANEL_WIDTH - RIGHT_MARGIN - if room > 0.0 { room + 6.0 } else { 0.0 },
            top: TOP_MARGIN,
            bottom: 0.0,
            height: 0.0,
            x: &panel.x,
            y: &panel.y,
            ends: Vec::new(),
            finding_labels: Vec::new(),
        };
        let lines = frame.label_findings(&panel.findings);
        frame.top += lines * LINE_HEIGHT;
        frame.bottom = frame.top + plot_height(panel);
        frame.height = frame.bottom + BOTTOM_MARGIN;
        frame.label_ends(panel, &names_of_ends);
        frame
    }

    /// Places the label of each finding above the plot, where it lies neither on a line nor on another label. Returns
    /// the number of lines of text.
    #[allow(clippy::cast_precision_loss, reason = "lines are few")]
    fn label_findings(&mut self, findings: &[Finding]) -> f64 {
        let mut ends_of_lines: Vec<f64> = Vec::new();
        let labels = findings.iter().map(|finding| {
            let room = PANEL_WIDTH - 4.0 - SAMPLE_WIDTH;
            let text = truncate(&finding.label, chars_that_fit(room));
            let width = SAMPLE_WIDTH + text_width(&text);
            let near = match finding.axis {
                FindingAxis::X => self.x_at(self.x.clamp(finding.value))?,
                FindingAxis::Y => self.left,
            };
            let left = near.min(PANEL_WIDTH - 2.0 - width).max(2.0);
            let line = ends_of_lines.iter().position(|end| end + LABEL_GAP <= left);
            let line = line.unwrap_or(ends_of_lines.len());
            if line == MAX_LABEL_LINES {
                return None;
            }
            ends_of_lines.resize(ends_of_lines.len().max(line + 1), 0.0);
            ends_of_lines[line] = left + width;
            let baseline = Y_TITLE_BASELINE + (line + 1) as f64 * LINE_HEIGHT;
            Some(FindingLabel { text, left, baseline })
        });
        let labels: Vec<Option<FindingLabel>> = labels.collect();
        self.finding_labels = labels;
        ends_of_lines.len() as f64
    }

    /// Places the labels at the ends of lines, at equal heights with them as far as the labels do not overlap.
    fn label_ends(&mut self, panel: &Panel, names: &[(String, usize)]) {
        let end = |series: usize| {
            let curve = panel.content.curves.iter().find(|curve| curve.series == series)?;
            self.y_at(curve.line.last()?[1])
        };
        let label = |(name, series): &(String, usize)| {
            Some(EndLabel { name: name.clone(), height: end(*series)?, series: *series })
        };
        let mut ends: Vec<EndLabel> = names.iter().filter_map(label).collect();
        ends.sort_by(|one, other| one.height.total_cmp(&other.height));
        let mut lowest = self.top;
        for end in &mut ends {
            end.height = end.height.max(lowest);
            lowest = end.height + LINE_HEIGHT;
        }
        let mut highest = self.bottom;
        for end in ends.iter_mut().rev() {
            end.height = end.height.min(highest);
            highest = end.height - LINE_HEIGHT;
        }
        self.ends = ends;
    }

    pub(super) fn x_at(&self, value: f64) -> Option<f64> {
        self.x.position(value).map(|place| self.left + place * (self.right - self.left))
    }

    pub(super) fn y_at(&self, value: f64) -> Option<f64> {
        let position = self.y.position(value)?;
        let distance = position * (self.bottom - self.top);
        // Rows run downwards, with their dots below their labels.
        Some(if self.has_rows() {
            self.top + distance + ROW_HEIGHT / 4.0
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

/// Returns the height of the plot of a panel.
#[allow(clippy::cast_precision_loss, reason = "rows are few")]
fn plot_height(panel: &Panel) -> f64 {
    match panel.content.rows.len() {
        0 => PLAIN_PLOT_HEIGHT,
        rows => rows as f64 * ROW_HEIGHT,
    }
}

/// Returns the lines to be labeled at their ends, with name and series: those that end near the right edge and have
/// a short name. Distributions all end at the same height, so their lines have no labels.
fn end_names(chart: &Chart, panel: &Panel, names: &SeriesNames) -> Vec<(String, usize)> {
    let has_lines = matches!(chart.statistic, Statistic::Median(_));
    if !has_lines || !panel.content.rows.is_empty() {
        return Vec::new();
    }
    let curves = panel.content.curves.iter().filter(|curve| {
        let end = curve.line.last().and_then(|[x, _]| panel.x.position(*x));
        end.is_some_and(|position| position >= MIN_LABELED_END)
    });
    let named = curves.map(|curve| (names.name(curve.series).to_owned(), curve.series));
    named.filter(|(name, _)| text_width(name) <= MAX_END_LABEL_WIDTH).collect()
}

/// Truncates `text` to `max_chars` letters.
pub(super) fn truncate(text: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    text.chars().take(max_chars.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Quantity;
    use crate::figure::chart::{Content, Curve};

    /// Returns a chart with a line for each of `names` that ends at the given height, and a finding at each of
    /// `peaks`.
    fn chart(ends: &[f64], peaks: &[f64]) -> Chart {
        let curve = |(series, end): (usize, &f64)| Curve {
            series,
            line: vec![[1.0, 50.0], [1_024.0, *end]],
            ..Curve::default()
        };
        let peak = |value: &f64| Finding {
            axis: FindingAxis::X,
            value: *value,
            interval: None,
            label: "peak 2 KiB, unix-stream".to_owned(),
            series: None,
        };
        let panel = Panel {
            title: String::new(),
            x: Axis::from_range(Quantity::BufferBytes, 1.0, 1_024.0),
            y: Axis::from_range(Quantity::Bandwidth, 1.0, 100.0),
            content: Content {
                curves: ends.iter().enumerate().map(curve).collect(),
                rows: Vec::new(),
            },
            guides: Vec::new(),
            caches: Vec::new(),
            findings: peaks.iter().map(peak).collect(),
        };
        Chart {
            name: "x".to_owned(),
            statistic: Statistic::Median(crate::figure::figure_spec::Band::Quartiles),
            title: "X".to_owned(),
            panels: vec![panel],
            notes: Vec::new(),
        }
    }

    fn series_names(names: &[&str]) -> SeriesNames {
        let mut all = SeriesNames::default();
        for name in names {
            all.intern(name);
        }
        all
    }

    #[test]
    fn end_labels_neither_overlap_nor_leave_the_plot() {
        let names = series_names(&["a", "b", "c", "a name that is too long for a label"]);
        let chart = chart(&[1.0, 1.0, 1.1, 2.0], &[]);
        let frame = Frame::new(&chart, &chart.panels[0], &names);
        let heights: Vec<f64> = frame.ends.iter().map(|end| end.height).collect();
        assert_eq!(heights.len(), 3, "the long name is only in the legend");
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= LINE_HEIGHT), "{heights:?}");
        assert!(heights.iter().all(|height| (frame.top..=frame.bottom).contains(height)));
    }

    #[test]
    fn labels_of_findings_are_above_the_plot_and_apart() {
        let (names, peaks) = (series_names(&["pipe"]), [32.0, 32.0, 40.0, 1_000.0]);
        let chart = chart(&[100.0], &peaks);
        let frame = Frame::new(&chart, &chart.panels[0], &names);
        let labels: Vec<&FindingLabel> = frame.finding_labels.iter().flatten().collect();
        assert_eq!(labels.len(), peaks.len());
        for (at, one) in labels.iter().enumerate() {
            assert!(one.baseline < frame.top - LINE_HEIGHT, "{} in the plot", one.text);
            let right = one.left + SAMPLE_WIDTH + text_width(&one.text);
            assert!(one.left >= 0.0 && right <= PANEL_WIDTH, "{right}");
            let is_apart = |other: &&FindingLabel| {
                let other_right = other.left + SAMPLE_WIDTH + text_width(&other.text);
                (one.baseline - other.baseline).abs() >= LINE_HEIGHT
                    || right < other.left
                    || other_right < one.left
            };
            assert!(labels[..at].iter().all(is_apart), "label {at}");
        }
    }
}
