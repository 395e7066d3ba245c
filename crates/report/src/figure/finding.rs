//! Findings of tests as marks in a panel: a peak, a crossing, a height, a bound.

use maud::{Markup, html};

use super::axis::Axis;
use super::chart::{Finding, FindingAxis};
use super::frame::{
    BACKGROUND_COLOR, FONT_SIZE, Frame, TEXT_COLOR, TOP_MARGIN, chars_that_fit, svg_number,
    text_width, truncate,
};
use super::style::Style;

/// Position of a label: left, right and baseline.
type LabelPosition = (f64, f64, f64);

/// Height of a line of text.
const LINE_HEIGHT: f64 = FONT_SIZE + 2.0;

impl Finding {
    /// Returns the ends of the interval, clamped to `axis`. `None` if no part of it is on the axis.
    fn clamped_interval(&self, axis: &Axis) -> Option<[f64; 2]> {
        let [low, high] = self.interval?;
        let ends = [axis.clamp(low), axis.clamp(high)];
        (ends[0] < ends[1]).then_some(ends)
    }
}

/// Draws all findings of a panel.
pub(super) fn findings(frame: &Frame<'_>, findings: &[Finding]) -> Markup {
    let mut taken: Vec<LabelPosition> = Vec::new();
    html! {
        @for finding in findings { (draw_finding(frame, finding, &mut taken)) }
    }
}

fn draw_finding(frame: &Frame<'_>, finding: &Finding, taken: &mut Vec<LabelPosition>) -> Markup {
    let style = finding.series.map(Style::from_number);
    let class =
        style.map_or("finding".to_owned(), |style| format!("finding series color-{}", style.color));
    let words = truncate(&finding.label, chars_that_fit(frame.right - frame.left));
    html! {
        g class=(class) data-series=[finding.series]
            color=(style.map_or(TEXT_COLOR, Style::print_color)) {
            @if let Some(band) = interval_band(frame, finding) { (band) }
            @if let Some(middle) = value_line(frame, finding) { (middle) }
            @if let Some((left, _, line)) = place_label(frame, &words, finding, taken) {
                text.finding-name x=(svg_number(left)) y=(svg_number(line)) fill=(TEXT_COLOR) stroke=(BACKGROUND_COLOR)
                    stroke-width="3" paint-order="stroke" { (words) }
            }
        }
    }
}

/// Draws the interval as a band across the whole plot.
fn interval_band(frame: &Frame<'_>, finding: &Finding) -> Option<Markup> {
    let (left, top, right, bottom) = match finding.axis {
        FindingAxis::X => {
            let [low, high] = finding.clamped_interval(frame.x)?;
            (frame.x_at(low)?, TOP_MARGIN, frame.x_at(high)?, frame.bottom)
        }
        FindingAxis::Y => {
            let [low, high] = finding.clamped_interval(frame.y)?;
            (frame.left, frame.y_at(high)?, frame.right, frame.y_at(low)?)
        }
    };
    Some(html! {
        rect.finding-mark fill="currentColor" fill-opacity="0.12" x=(svg_number(left)) y=(svg_number(top))
            width=(svg_number(right - left)) height=(svg_number(bottom - top)) {}
    })
}

/// Draws the line at the value itself.
fn value_line(frame: &Frame<'_>, finding: &Finding) -> Option<Markup> {
    let (from, to) = match finding.axis {
        FindingAxis::X if frame.x.contains(finding.value) => {
            let at = frame.x_at(finding.value)?;
            ((at, TOP_MARGIN), (at, frame.bottom))
        }
        FindingAxis::Y if frame.y.contains(finding.value) => {
            let at = frame.y_at(finding.value)?;
            ((frame.left, at), (frame.right, at))
        }
        FindingAxis::X | FindingAxis::Y => return None,
    };
    Some(html! {
        line.finding-mark stroke="currentColor" stroke-dasharray="4 2" x1=(svg_number(from.0)) y1=(svg_number(from.1))
            x2=(svg_number(to.0)) y2=(svg_number(to.1)) {}
    })
}

/// Returns the position of the label: near the finding, and below labels that are already there.
fn place_label(
    frame: &Frame<'_>,
    words: &str,
    finding: &Finding,
    taken: &mut Vec<LabelPosition>,
) -> Option<LabelPosition> {
    let wide = text_width(words);
    let (left, mut line) = match finding.axis {
        FindingAxis::X => {
            (frame.x_at(frame.x.clamp(finding.value))? + 4.0, TOP_MARGIN + LINE_HEIGHT)
        }
        FindingAxis::Y => (frame.left + 4.0, frame.y_at(frame.y.clamp(finding.value))? - 4.0),
    };
    let left = left.min(frame.right - wide).max(frame.left + 2.0);
    line = line.max(TOP_MARGIN + LINE_HEIGHT);
    let overlaps = |line: f64| {
        taken.iter().any(|(from, to, other)| {
            left < *to && left + wide > *from && (line - other).abs() < LINE_HEIGHT
        })
    };
    while overlaps(line) {
        line += LINE_HEIGHT;
    }
    if line > frame.bottom {
        return None;
    }
    taken.push((left, left + wide, line));
    taken.last().copied()
}
