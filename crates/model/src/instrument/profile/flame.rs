//! Draws stacks as a flame graph in SVG. Each function is a box above its caller, as wide as its number of
//! samples; boxes above one caller are sorted by name. The picture needs no scripts: the description of each box is
//! its title, which viewers show as a tooltip.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::groups;
use super::row::{ProfileRow, Stack};
use crate::observation::Observation;

const WIDTH: f64 = 1200.0;
const ROW_HEIGHT: f64 = 18.0;
/// Average width of a letter.
const LETTER_WIDTH: f64 = 6.6;
/// Maximum depth of a stack that is drawn: an untrusted file may have any depth.
const MAX_DEPTH: usize = 200;
/// Minimum width of a box that is drawn: narrower ones are invisible.
const MIN_WIDTH: f64 = 0.3;

/// Function in the context of its callers.
#[derive(Debug, Default)]
struct Frame {
    samples: u64,
    /// Colour of the group of the function. Boxes are half transparent, so that the colours work on light and dark
    /// backgrounds.
    colour: &'static str,
    above: BTreeMap<String, Frame>,
}

/// Draws the SVG picture of the stacks in `observations`. Returns `None` if there are no samples.
#[must_use]
pub fn flame_graph(observations: &[Observation]) -> Option<String> {
    let mut all = Frame::default();
    for row in observations.iter().filter_map(Observation::row) {
        if let ProfileRow::Stack(stack) = row {
            all.add(&stack);
        }
    }
    if all.samples == 0 {
        return None;
    }
    let height = to_f64(all.rows()) * ROW_HEIGHT;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"monospace\" font-size=\"11\" fill=\"currentColor\">\n"
    );
    let drawing = Drawing { scale: WIDTH / to_f64(all.samples), height, all: all.samples };
    drawing.draw_boxes(&mut svg, &all, 0.0, 1);
    svg.push_str("</svg>\n");
    Some(svg)
}

impl Frame {
    fn add(&mut self, stack: &Stack) {
        let mut at = self;
        at.samples = at.samples.saturating_add(stack.samples);
        for frame in stack.frames().take(MAX_DEPTH) {
            at = at.above.entry(frame.to_string()).or_default();
            at.samples = at.samples.saturating_add(stack.samples);
            at.colour = groups::group_of(frame.space, frame.symbol).color();
        }
    }

    /// Number of boxes in the highest stack.
    fn rows(&self) -> u64 {
        self.above.values().map(|above| 1 + above.rows()).max().unwrap_or(0)
    }
}

/// Parameters common to all boxes.
#[derive(Debug)]
struct Drawing {
    /// Width of one sample.
    scale: f64,
    height: f64,
    all: u64,
}

impl Drawing {
    /// Draws the boxes above `below`, which begins at `left`, in the given row from the bottom.
    fn draw_boxes(&self, svg: &mut String, below: &Frame, mut left: f64, row: u64) {
        for (name, above) in &below.above {
            let width = to_f64(above.samples) * self.scale;
            if width >= MIN_WIDTH {
                self.draw_box(svg, (name, above), (left, width), row);
                self.draw_boxes(svg, above, left, row + 1);
            }
            left += width;
        }
    }

    fn draw_box(
        &self,
        svg: &mut String,
        (name, frame): (&str, &Frame),
        (left, width): (f64, f64),
        row: u64,
    ) {
        let top = self.height - to_f64(row) * ROW_HEIGHT;
        let Frame { samples, colour, .. } = frame;
        let share = 100.0 * to_f64(*samples) / to_f64(self.all);
        let (label, name) = (truncate_label(name, width), escape(name));
        let (box_width, box_height) = ((width - 0.4).max(MIN_WIDTH), ROW_HEIGHT - 1.0);
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            "<g><title>{name}: {samples} samples, {share:.1} %</title><rect x=\"{left:.1}\" y=\"{top:.1}\" \
             width=\"{box_width:.1}\" height=\"{box_height:.1}\" fill=\"{colour}\" fill-opacity=\"0.55\"/>"
        );
        if !label.is_empty() {
            let (x, y) = (left + 3.0, top + 12.5);
            let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(&label));
        }
        svg.push_str("</g>\n");
    }
}

/// Returns as much of `name` as fits into `width`, or nothing if that is too short to read.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "widths are small")]
fn truncate_label(name: &str, width: f64) -> String {
    let room = ((width - 6.0).max(0.0) / LETTER_WIDTH) as usize;
    match name.chars().count() {
        all if all <= room => name.to_owned(),
        _ if room < 4 => String::new(),
        _ => name.chars().take(room - 2).chain("..".chars()).collect(),
    }
}

fn escape(name: &str) -> String {
    name.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[allow(clippy::cast_precision_loss, reason = "what is drawn is exact to a tenth of a pixel")]
const fn to_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACKS: [(&str, u64); 3] = [
        ("sender;write;_copy_from_iter_[k]", 60),
        ("sender;write;Vec<[u8: 4]> & more", 20),
        ("receiver;read", 20),
    ];

    fn seen(stack: &str, samples: u64) -> Observation {
        Observation::from_row(None, &ProfileRow::Stack(Stack { stack: stack.to_owned(), samples }))
    }

    #[test]
    fn boxes_are_as_wide_as_their_samples_and_stand_on_their_callers() {
        let svg = flame_graph(&STACKS.map(|(stack, samples)| seen(stack, samples))).unwrap();
        let drawn = |title: &str| {
            let line = svg.lines().find(|line| line.contains(title)).unwrap();
            let of = |name: &str| {
                let value = line.split_once(&format!(" {name}=\"")).unwrap().1;
                value.split_once('"').unwrap().0.parse::<f64>().unwrap()
            };
            (of("x"), of("y"), of("width"))
        };
        assert_eq!(drawn("<title>receiver: 20 samples, 20.0 %<"), (0.0, 36.0, 239.6));
        assert_eq!(drawn("<title>sender: 80 samples, 80.0 %<"), (240.0, 36.0, 959.6));
        assert_eq!(drawn("<title>_copy_from_iter_[k]: 60"), (480.0, 0.0, 719.6));
        assert!(svg.contains("viewBox=\"0 0 1200 54\""), "{svg}");
        assert!(svg.contains("Vec&lt;[u8: 4]&gt; &amp; more"), "{svg}");
        assert_eq!(svg.matches("#e4572e").count(), 1);
    }

    #[test]
    fn a_stack_without_end_is_cut() {
        let svg = flame_graph(&[seen(&"f;".repeat(1_000_000), 1)]).unwrap();
        assert_eq!(svg.matches("<rect").count(), MAX_DEPTH);
    }

    #[test]
    fn names_are_cut_where_there_is_no_room() {
        assert_eq!(truncate_label("finish_task_switch", 60.0), "finish..");
        assert_eq!(truncate_label("finish_task_switch", 20.0), "");
        assert_eq!(truncate_label("read", 60.0), "read");
    }

    #[test]
    fn no_samples_are_no_picture() {
        assert_eq!(flame_graph(&[]), None);
        assert_eq!(flame_graph(&[seen("sender;read", 0)]), None);
    }
}
