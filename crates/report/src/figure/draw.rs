//! Rendering of one panel as SVG. Colors are attributes, for print; the style sheet of a page overrides them by class,
//! for dark mode.

use maud::{Markup, html};

use super::chart::{Chart, Curve, Names, Panel, Point, Trust};
use super::finding::findings;
use super::frame::{
    ABOVE, BESIDE_TICK, FAINT, FONT, Frame, GROUND, GUIDE, ROW, ROW_LETTERS, TEXT, TICK_BELOW,
    TITLE_BELOW, WIDTH, cut, height, short, width,
};
use super::style::{MARKS, Style};

/// Position of a panel: standalone in a page, or within a sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// Standalone in a page.
    Page,
    /// In a sheet, with its upper left corner at this position.
    Sheet {
        /// Distance from the left edge of the sheet, px.
        left: f64,
        /// Distance from its upper edge, px.
        top: f64,
    },
}

/// Returns the outlines that points refer to. Each SVG or HTML document needs them once.
pub fn marks() -> Markup {
    html! {
        defs {
            @for (number, outline) in MARKS.iter().enumerate() {
                path id={ "mark-" (number) } d=(outline) {}
            }
        }
    }
}

/// Draws a panel of `chart`.
pub fn panel(chart: &Chart, panel: &Panel, names: &Names, standing: Standing) -> Markup {
    let frame = Frame::new(chart, panel, names);
    let height = height(panel);
    let place = match standing {
        Standing::Page => None,
        Standing::Sheet { left, top } => Some([left, top, WIDTH, height].map(short)),
    };
    let [left, top, wide, high] =
        [0, 1, 2, 3].map(|k: usize| place.as_ref().map(|place| place[k].clone()));
    let about = match panel.title.as_str() {
        "" => chart.title.clone(),
        title => format!("{}, {title}", chart.title),
    };
    html! {
        svg.panel viewBox={ "0 0 " (short(WIDTH)) " " (short(height)) } tabindex="0" role="img"
            aria-label=(about) font-size=(FONT) font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif"
            x=[left] y=[top] width=[wide] height=[high] {
            (frame.axis_up())
            (frame.axis_across())
            (frame.caches(&panel.caches))
            @for guide in &panel.guides {
                @for line in &guide.lines {
                    path.guide fill="none" stroke=(GUIDE) stroke-dasharray=(guide.limit.dashes()) d=(frame.path(line)) {}
                }
            }
            @for curve in &panel.content.curves { (frame.curve(curve)) }
            (findings(&frame, &panel.findings))
            (frame.row_labels(&panel.content.rows))
            (frame.end_labels())
        }
    }
}

impl Frame<'_> {
    fn axis_up(&self) -> Markup {
        let ticks = self.y.ticks().into_iter();
        let ticks = ticks.filter_map(|(value, label)| Some((self.up(value)?, label)));
        let (left, right) = (short(self.left), short(self.right));
        html! {
            text.axis-title x="2" y="12" fill=(TEXT) { (self.y.quantity.title()) }
            @for (height, label) in ticks {
                line.grid x1=(left) x2=(right) y1=(short(height)) y2=(short(height)) stroke=(FAINT) {}
                text.tick x=(short(self.left - 5.0)) y=(short(height + BESIDE_TICK)) text-anchor="end" fill=(TEXT) {
                    (label)
                }
            }
        }
    }

    fn axis_across(&self) -> Markup {
        let (top, bottom) = (short(ABOVE), short(self.bottom));
        let below = short(self.bottom + TICK_BELOW);
        let middle = f64::midpoint(self.left, self.right);
        let title = self.x.quantity.title();
        // A title wider than the plot must still fit in the panel.
        let middle = middle.min(WIDTH - width(title) / 2.0).max(width(title) / 2.0);
        html! {
            @for (at, label) in self.ticks_across() {
                line.grid x1=(short(at)) x2=(short(at)) y1=(top) y2=(bottom) stroke=(FAINT) {}
                @if let Some(label) = label {
                    text.tick x=(short(at)) y=(below) text-anchor="middle" fill=(TEXT) { (label) }
                }
            }
            text.axis-title x=(short(middle)) y=(short(self.bottom + TITLE_BELOW)) text-anchor="middle" fill=(TEXT) {
                (title)
            }
        }
    }

    /// Returns the ticks of the horizontal axis. Ticks without enough room have no label.
    fn ticks_across(&self) -> Vec<(f64, Option<String>)> {
        const APART: f64 = 6.0;
        let mut taken = 0.0;
        let ticks = self.x.ticks().into_iter();
        let placed = ticks.filter_map(|(value, label)| Some((self.across(value)?, label)));
        placed
            .map(|(at, label)| {
                let half = width(&label) / 2.0;
                let fits = at - half >= taken && at + half <= WIDTH;
                if fits {
                    taken = at + half + APART;
                }
                (at, fits.then_some(label))
            })
            .collect()
    }

    fn caches(&self, caches: &[(f64, &'static str)]) -> Markup {
        let mut taken = 0.0;
        let placed = caches.iter().filter_map(|(bytes, name)| Some((self.across(*bytes)?, *name)));
        let placed: Vec<(f64, Option<&str>)> = placed
            .map(|(at, name)| {
                let fits = at + 3.0 >= taken && at + 3.0 + width(name) <= self.right;
                if fits {
                    taken = at + 6.0 + width(name);
                }
                (at, fits.then_some(name))
            })
            .collect();
        html! {
            @for (at, name) in placed {
                line.cache x1=(short(at)) x2=(short(at)) y1=(short(ABOVE)) y2=(short(self.bottom))
                    stroke=(GUIDE) stroke-dasharray="1 3" {}
                @if let Some(name) = name {
                    text.cache-name x=(short(at + 3.0)) y=(short(ABOVE - 4.0)) fill=(GUIDE) { (name) }
                }
            }
        }
    }

    fn curve(&self, curve: &Curve) -> Markup {
        let style = Style::of(curve.series);
        let whiskers = curve.whiskers.iter().filter_map(|[x, y, to_x, to_y]| {
            Some((self.place(*x, *y)?, self.place(*to_x, *to_y)?))
        });
        html! {
            g class={ "series colour-" (style.colour) } data-series=(curve.series) color=(style.print_colour()) {
                @if curve.band.len() > 1 {
                    path.band fill="currentColor" fill-opacity="0.15" d=(self.band(&curve.band)) {}
                }
                @if curve.line.len() > 1 {
                    path.line fill="none" stroke="currentColor" stroke-width="1.5"
                        stroke-dasharray=(style.dashes()) d=(self.path(&curve.line)) {}
                }
                @for (from, to) in whiskers {
                    line.whisker stroke="currentColor" stroke-width="3" stroke-opacity="0.4"
                        x1=(short(from.0)) y1=(short(from.1)) x2=(short(to.0)) y2=(short(to.1)) {}
                }
                @for point in &curve.points { (self.point(point, style)) }
            }
        }
    }

    fn point(&self, point: &Point, style: Style) -> Markup {
        let Some((x, y)) = self.place(point.x, point.y) else {
            return html! {};
        };
        // Unreliable points are hollow.
        let (fill, stroke) = match point.trust {
            Trust::Counted => ("currentColor", None),
            Trust::HeldUp => ("none", Some("currentColor")),
        };
        let is_usual = (point.weight - 1.0).abs() < f64::EPSILON;
        let scale = short(point.weight.max(0.3).sqrt());
        let sized = format!("translate({} {}) scale({scale})", short(x), short(y));
        html! {
            use.point href={ "#mark-" (style.mark) } fill=(fill) stroke=[stroke]
                x=[is_usual.then(|| short(x))] y=[is_usual.then(|| short(y))]
                transform=[(!is_usual).then_some(sized)] { title { (point.words) } }
        }
    }

    fn path(&self, line: &[[f64; 2]]) -> String {
        let places = line.iter().filter_map(|[x, y]| self.place(*x, *y));
        joined(places)
    }

    fn band(&self, band: &[[f64; 3]]) -> String {
        let there = band.iter().filter_map(|[x, _, high]| self.place(*x, *high));
        let back = band.iter().rev().filter_map(|[x, low, _]| self.place(*x, *low));
        joined(there.chain(back)) + "z"
    }

    #[allow(clippy::cast_precision_loss, reason = "rows are few")]
    fn row_labels(&self, rows: &[String]) -> Markup {
        html! {
            @for (row, label) in rows.iter().enumerate() {
                text.row-label x="2" y=(short(ABOVE + row as f64 * ROW + FONT + 2.0)) fill=(TEXT)
                    stroke=(GROUND) stroke-width="3" paint-order="stroke" {
                    (cut(label, ROW_LETTERS))
                }
            }
        }
    }

    fn end_labels(&self) -> Markup {
        html! {
            @for (name, height, series) in &self.ends {
                g class={ "series colour-" (Style::of(*series).colour) } data-series=(series)
                    color=(Style::of(*series).print_colour()) {
                    use href={ "#mark-" (Style::of(*series).mark) } fill="currentColor"
                        x=(short(self.right + 8.0)) y=(short(*height)) {}
                    text.end-label x=(short(self.right + 14.0)) y=(short(height + BESIDE_TICK)) fill=(TEXT) {
                        (name)
                    }
                }
            }
        }
    }
}

/// Returns the SVG path through `places`.
fn joined(places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in places {
        path.push(if path.is_empty() { 'M' } else { 'L' });
        path += &short(x);
        path.push(' ');
        path += &short(y);
    }
    path
}
