//! Findings of tests as marks in a panel: a peak, a crossing, a height, a bound. Their labels are above the plot.

use maud::{Markup, html};

use super::axis::Axis;
use super::chart::{Finding, FindingAxis};
use super::frame::{FONT_SIZE, FindingLabel, Frame, SAMPLE_WIDTH, TEXT_COLOR, svg_number};
use super::style::Style;

/// Dashes of the line at a value.
const DASHES: &str = "4 2";
/// Gap between the sample of a mark and its label.
const SAMPLE_GAP: f64 = 4.0;

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
    html! {
        @for (finding, label) in findings.iter().zip(&frame.finding_labels) {
            (draw_finding(frame, finding, label.as_ref()))
        }
    }
}

fn draw_finding(frame: &Frame<'_>, finding: &Finding, label: Option<&FindingLabel>) -> Markup {
    let style = finding.series.map(Style::from_number);
    let class =
        style.map_or("finding".to_owned(), |style| format!("finding series color-{}", style.color));
    html! {
        g class=(class) data-series=[finding.series]
            color=(style.map_or(TEXT_COLOR, Style::print_color)) {
            @if let Some(band) = interval_band(frame, finding) { (band) }
            @if let Some(middle) = value_line(frame, finding) { (middle) }
            @if let Some(label) = label { (sample(finding.axis, label)) (label_text(label)) }
        }
    }
}

/// Draws the interval as a band across the whole plot.
fn interval_band(frame: &Frame<'_>, finding: &Finding) -> Option<Markup> {
    let (left, top, right, bottom) = match finding.axis {
        FindingAxis::X => {
            let [low, high] = finding.clamped_interval(frame.x)?;
            (frame.x_at(low)?, frame.top, frame.x_at(high)?, frame.bottom)
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
            ((at, frame.top), (at, frame.bottom))
        }
        FindingAxis::Y if frame.y.contains(finding.value) => {
            let at = frame.y_at(finding.value)?;
            ((frame.left, at), (frame.right, at))
        }
        FindingAxis::X | FindingAxis::Y => return None,
    };
    Some(mark_line(from, to))
}

/// Draws a short piece of the line before its label, which shows its direction and color.
fn sample(axis: FindingAxis, label: &FindingLabel) -> Markup {
    let middle = label.baseline - FONT_SIZE / 3.0;
    let end = label.left + SAMPLE_WIDTH - SAMPLE_GAP;
    match axis {
        FindingAxis::X => {
            let at = f64::midpoint(label.left, end);
            mark_line((at, label.baseline - FONT_SIZE * 0.8), (at, label.baseline))
        }
        FindingAxis::Y => mark_line((label.left, middle), (end, middle)),
    }
}

fn mark_line(from: (f64, f64), to: (f64, f64)) -> Markup {
    html! {
        line.finding-mark stroke="currentColor" stroke-dasharray=(DASHES) x1=(svg_number(from.0)) y1=(svg_number(from.1))
            x2=(svg_number(to.0)) y2=(svg_number(to.1)) {}
    }
}

fn label_text(label: &FindingLabel) -> Markup {
    html! {
        text.finding-name x=(svg_number(label.left + SAMPLE_WIDTH)) y=(svg_number(label.baseline)) fill=(TEXT_COLOR) {
            (label.text)
        }
    }
}
