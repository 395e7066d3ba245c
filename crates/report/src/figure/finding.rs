//! Findings of tests as marks in a panel: a peak, a crossing, a height, a bound.

use maud::{Markup, html};

use super::axis::Axis;
use super::chart::{Along, Finding};
use super::frame::{ABOVE, FONT, Frame, GROUND, TEXT, cut, letters, short, width};
use super::style::Style;

/// Position of a label: left, right and baseline.
type Place = (f64, f64, f64);

/// Height of a line of text.
const LINE: f64 = FONT + 2.0;

impl Finding {
    /// Returns the ends of the interval, clamped to `axis`. `None` if no part of it is on the axis.
    fn on(&self, axis: &Axis) -> Option<[f64; 2]> {
        let [low, high] = self.interval?;
        let ends = [axis.nearest(low), axis.nearest(high)];
        (ends[0] < ends[1]).then_some(ends)
    }
}

/// Draws all findings of a panel.
pub(super) fn findings(frame: &Frame<'_>, findings: &[Finding]) -> Markup {
    let mut taken: Vec<Place> = Vec::new();
    html! {
        @for finding in findings { (one(frame, finding, &mut taken)) }
    }
}

fn one(frame: &Frame<'_>, finding: &Finding, taken: &mut Vec<Place>) -> Markup {
    let style = finding.series.map(Style::of);
    let class = style
        .map_or("finding".to_owned(), |style| format!("finding series colour-{}", style.colour));
    let words = cut(&finding.words, letters(frame.right - frame.left));
    html! {
        g class=(class) data-series=[finding.series]
            color=(style.map_or(TEXT, Style::print_colour)) {
            @if let Some(band) = band(frame, finding) { (band) }
            @if let Some(middle) = middle(frame, finding) { (middle) }
            @if let Some((left, _, line)) = place(frame, &words, finding, taken) {
                text.finding-name x=(short(left)) y=(short(line)) fill=(TEXT) stroke=(GROUND)
                    stroke-width="3" paint-order="stroke" { (words) }
            }
        }
    }
}

/// Draws the interval as a band across the whole plot.
fn band(frame: &Frame<'_>, finding: &Finding) -> Option<Markup> {
    let (left, top, right, bottom) = match finding.along {
        Along::Across => {
            let [low, high] = finding.on(frame.x)?;
            (frame.across(low)?, ABOVE, frame.across(high)?, frame.bottom)
        }
        Along::Up => {
            let [low, high] = finding.on(frame.y)?;
            (frame.left, frame.up(high)?, frame.right, frame.up(low)?)
        }
    };
    Some(html! {
        rect.found fill="currentColor" fill-opacity="0.12" x=(short(left)) y=(short(top))
            width=(short(right - left)) height=(short(bottom - top)) {}
    })
}

/// Draws the line at the value itself.
fn middle(frame: &Frame<'_>, finding: &Finding) -> Option<Markup> {
    let (from, to) = match finding.along {
        Along::Across if frame.x.holds(finding.at) => {
            let at = frame.across(finding.at)?;
            ((at, ABOVE), (at, frame.bottom))
        }
        Along::Up if frame.y.holds(finding.at) => {
            let at = frame.up(finding.at)?;
            ((frame.left, at), (frame.right, at))
        }
        Along::Across | Along::Up => return None,
    };
    Some(html! {
        line.found stroke="currentColor" stroke-dasharray="4 2" x1=(short(from.0)) y1=(short(from.1))
            x2=(short(to.0)) y2=(short(to.1)) {}
    })
}

/// Returns the position of the label: near the finding, and below labels that are already there.
fn place(
    frame: &Frame<'_>,
    words: &str,
    finding: &Finding,
    taken: &mut Vec<Place>,
) -> Option<Place> {
    let wide = width(words);
    let (left, mut line) = match finding.along {
        Along::Across => (frame.across(frame.x.nearest(finding.at))? + 4.0, ABOVE + LINE),
        Along::Up => (frame.left + 4.0, frame.up(frame.y.nearest(finding.at))? - 4.0),
    };
    let left = left.min(frame.right - wide).max(frame.left + 2.0);
    line = line.max(ABOVE + LINE);
    let lies_over = |line: f64| {
        taken.iter().any(|(from, to, other)| {
            left < *to && left + wide > *from && (line - other).abs() < LINE
        })
    };
    while lies_over(line) {
        line += LINE;
    }
    if line > frame.bottom {
        return None;
    }
    taken.push((left, left + wide, line));
    taken.last().copied()
}
