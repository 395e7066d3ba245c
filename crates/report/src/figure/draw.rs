//! Rendering of one panel as SVG. Colors are attributes, for print; the style sheet of a page overrides them by class,
//! for dark mode.

use maud::{Markup, html};

use super::chart::{Chart, Curve, Panel, Point, SeriesNames, Validity};
use super::finding::findings;
use super::frame::{
    BACKGROUND_COLOR, END_LABEL_OFFSET, EndLabel, FONT_SIZE, Frame, GRID_COLOR, GUIDE_COLOR,
    MAX_ROW_LABEL_CHARS, PANEL_WIDTH, ROW_HEIGHT, TEXT_COLOR, X_TICK_BASELINE, X_TITLE_BASELINE,
    Y_TICK_BASELINE, Y_TITLE_BASELINE, svg_number, text_width, truncate,
};
use super::style::{MARKS, Style};

/// Position of a panel: standalone in a page, or within a sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PanelPosition {
    /// Standalone in a page.
    Standalone,
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
pub fn panel(chart: &Chart, panel: &Panel, names: &SeriesNames, position: PanelPosition) -> Markup {
    let frame = Frame::new(chart, panel, names);
    let height = frame.height;
    let bounds = match position {
        PanelPosition::Standalone => None,
        PanelPosition::Sheet { left, top } => {
            Some([left, top, PANEL_WIDTH, height].map(svg_number))
        }
    };
    let [left, top, wide, high] =
        [0, 1, 2, 3].map(|k: usize| bounds.as_ref().map(|place| place[k].clone()));
    let about = match panel.title.as_str() {
        "" => chart.title.clone(),
        title => format!("{}, {title}", chart.title),
    };
    html! {
        svg.panel viewBox={ "0 0 " (svg_number(PANEL_WIDTH)) " " (svg_number(height)) } tabindex="0" role="img"
            aria-label=(about) font-size=(FONT_SIZE) font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif"
            x=[left] y=[top] width=[wide] height=[high] {
            (frame.y_axis())
            (frame.x_axis())
            (frame.caches(&panel.caches))
            @for guide in &panel.guides {
                @for line in &guide.lines {
                    path.guide fill="none" stroke=(GUIDE_COLOR)
                        stroke-dasharray=(guide.limit.dashes()) d=(frame.path(line)) {}
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
    fn y_axis(&self) -> Markup {
        let ticks = self.y.ticks().into_iter();
        let ticks = ticks.filter_map(|(value, label)| Some((self.y_at(value)?, label)));
        let (left, right) = (svg_number(self.left), svg_number(self.right));
        html! {
            text.axis-title x="2" y=(svg_number(Y_TITLE_BASELINE)) fill=(TEXT_COLOR) { (self.y.title()) }
            @for (height, label) in ticks {
                line.grid x1=(left) x2=(right) y1=(svg_number(height)) y2=(svg_number(height)) stroke=(GRID_COLOR) {}
                text.tick x=(svg_number(self.left - 5.0)) y=(svg_number(height + Y_TICK_BASELINE))
                    text-anchor="end" fill=(TEXT_COLOR) {
                    (label)
                }
            }
        }
    }

    fn x_axis(&self) -> Markup {
        let (top, bottom) = (svg_number(self.top), svg_number(self.bottom));
        let below = svg_number(self.bottom + X_TICK_BASELINE);
        let middle = f64::midpoint(self.left, self.right);
        let title = self.x.title();
        // A title wider than the plot must still fit in the panel.
        let half = text_width(&title) / 2.0;
        let middle = middle.min(PANEL_WIDTH - half).max(half);
        html! {
            @for (at, label) in self.x_ticks() {
                line.grid x1=(svg_number(at)) x2=(svg_number(at)) y1=(top) y2=(bottom) stroke=(GRID_COLOR) {}
                @if let Some(label) = label {
                    text.tick x=(svg_number(at)) y=(below) text-anchor="middle" fill=(TEXT_COLOR) { (label) }
                }
            }
            text.axis-title x=(svg_number(middle)) y=(svg_number(self.bottom + X_TITLE_BASELINE))
                text-anchor="middle" fill=(TEXT_COLOR) {
                (title)
            }
        }
    }

    /// Returns the ticks of the horizontal axis. Ticks without enough room have no label.
    fn x_ticks(&self) -> Vec<(f64, Option<String>)> {
        const MIN_GAP: f64 = 6.0;
        let mut taken = 0.0;
        let ticks = self.x.ticks().into_iter();
        let placed = ticks.filter_map(|(value, label)| Some((self.x_at(value)?, label)));
        placed
            .map(|(at, label)| {
                let half = text_width(&label) / 2.0;
                let fits = at - half >= taken && at + half <= PANEL_WIDTH;
                if fits {
                    taken = at + half + MIN_GAP;
                }
                (at, fits.then_some(label))
            })
            .collect()
    }

    fn caches(&self, caches: &[(f64, &'static str)]) -> Markup {
        let mut taken = 0.0;
        let placed = caches.iter().filter_map(|(bytes, name)| Some((self.x_at(*bytes)?, *name)));
        let placed: Vec<(f64, Option<&str>)> = placed
            .map(|(at, name)| {
                let fits = at + 3.0 >= taken && at + 3.0 + text_width(name) <= self.right;
                if fits {
                    taken = at + 6.0 + text_width(name);
                }
                (at, fits.then_some(name))
            })
            .collect();
        html! {
            @for (at, name) in placed {
                line.cache x1=(svg_number(at)) x2=(svg_number(at)) y1=(svg_number(self.top)) y2=(svg_number(self.bottom))
                    stroke=(GUIDE_COLOR) stroke-dasharray="1 3" {}
                @if let Some(name) = name {
                    text.cache-name x=(svg_number(at + 3.0)) y=(svg_number(self.top - 4.0)) fill=(GUIDE_COLOR) { (name) }
                }
            }
        }
    }

    fn curve(&self, curve: &Curve) -> Markup {
        let style = Style::from_number(curve.series);
        let whiskers = curve.whiskers.iter().filter_map(|[x, y, to_x, to_y]| {
            Some((self.point_at(*x, *y)?, self.point_at(*to_x, *to_y)?))
        });
        html! {
            g class={ "series color-" (style.color) } data-series=(curve.series) color=(style.print_color()) {
                @if curve.band.len() > 1 {
                    path.band fill="currentColor" fill-opacity="0.15" d=(self.band(&curve.band)) {}
                }
                @if curve.line.len() > 1 {
                    path.line fill="none" stroke="currentColor" stroke-width="1.5"
                        stroke-dasharray=(style.dashes()) d=(self.path(&curve.line)) {}
                }
                @for (from, to) in whiskers {
                    line.whisker stroke="currentColor" stroke-width="3" stroke-opacity="0.4"
                        x1=(svg_number(from.0)) y1=(svg_number(from.1)) x2=(svg_number(to.0)) y2=(svg_number(to.1)) {}
                }
                @for point in &curve.points { (self.point(point, style)) }
            }
        }
    }

    fn point(&self, point: &Point, style: Style) -> Markup {
        let Some((x, y)) = self.point_at(point.x, point.y) else {
            return html! {};
        };
        // Unreliable points are hollow.
        let (fill, stroke) = match point.validity {
            Validity::Valid => ("currentColor", None),
            Validity::Disturbed => ("none", Some("currentColor")),
        };
        let is_usual = (point.weight - 1.0).abs() < f64::EPSILON;
        let scale = svg_number(point.weight.max(0.3).sqrt());
        let sized = format!("translate({} {}) scale({scale})", svg_number(x), svg_number(y));
        html! {
            use.point href={ "#mark-" (style.mark) } fill=(fill) stroke=[stroke]
                x=[is_usual.then(|| svg_number(x))] y=[is_usual.then(|| svg_number(y))]
                transform=[(!is_usual).then_some(sized)] { title { (point.tooltip) } }
        }
    }

    fn path(&self, line: &[[f64; 2]]) -> String {
        let places = line.iter().filter_map(|[x, y]| self.point_at(*x, *y));
        svg_path(places)
    }

    fn band(&self, band: &[[f64; 3]]) -> String {
        let upper = band.iter().filter_map(|[x, _, high]| self.point_at(*x, *high));
        let lower = band.iter().rev().filter_map(|[x, low, _]| self.point_at(*x, *low));
        svg_path(upper.chain(lower)) + "z"
    }

    #[allow(clippy::cast_precision_loss, reason = "rows are few")]
    fn row_labels(&self, rows: &[String]) -> Markup {
        html! {
            @for (row, label) in rows.iter().enumerate() {
                text.row-label x="2" y=(svg_number(self.top + row as f64 * ROW_HEIGHT + FONT_SIZE + 2.0)) fill=(TEXT_COLOR)
                    stroke=(BACKGROUND_COLOR) stroke-width="3" paint-order="stroke" {
                    (truncate(label, MAX_ROW_LABEL_CHARS))
                }
            }
        }
    }

    fn end_labels(&self) -> Markup {
        html! {
            @for EndLabel { name, height, series } in &self.ends {
                @let style = Style::from_number(*series);
                g class={ "series color-" (style.color) } data-series=(series) color=(style.print_color()) {
                    use href={ "#mark-" (style.mark) } fill="currentColor"
                        x=(svg_number(self.right + 8.0)) y=(svg_number(*height)) {}
                    text.end-label x=(svg_number(self.right + END_LABEL_OFFSET)) y=(svg_number(height + Y_TICK_BASELINE))
                        fill=(TEXT_COLOR) { (name) }
                }
            }
        }
    }
}

/// Returns the SVG path through `places`.
fn svg_path(places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in places {
        path.push(if path.is_empty() { 'M' } else { 'L' });
        path += &svg_number(x);
        path.push(' ');
        path += &svg_number(y);
    }
    path
}
