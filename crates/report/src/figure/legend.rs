//! Legend of a chart: each series and guide with its style.

use maud::{Markup, html};

use super::chart::{Chart, SeriesNames};
use super::frame::{GUIDE_COLOR, svg_number};
use super::limit_kind::LimitKind;
use super::style::Style;

/// An entry of the legend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegendEntry {
    pub key: Key,
    pub name: String,
}

/// Line that an entry of the legend explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A series, by number.
    Series(usize),
    /// A reference line.
    Guide(LimitKind),
}

/// Returns the legend of `chart`: series in the order of the report, then guides.
pub fn legend_entries(chart: &Chart, names: &SeriesNames) -> Vec<LegendEntry> {
    let series = chart.series().into_iter();
    let series = series.map(|number| LegendEntry {
        key: Key::Series(number),
        name: names.name(number).to_owned(),
    });
    let guides = chart.limits().into_iter();
    let guides =
        guides.map(|limit| LegendEntry { key: Key::Guide(limit), name: limit.name().to_owned() });
    series.chain(guides).collect()
}

impl LegendEntry {
    /// Draws a sample of the style, 30 by 12 units, with its upper left corner at `left`, `top`.
    pub fn swatch(&self, left: f64, top: f64) -> Markup {
        let (left, top) = (svg_number(left), svg_number(top));
        html! {
            svg.swatch viewBox="0 0 30 12" width="30" height="12" x=(left) y=(top) aria-hidden="true" {
                @match self.key {
                    Key::Series(number) => {
                        @let style = Style::from_number(number);
                        g class={ "color-" (style.color) } color=(style.print_color()) {
                            path fill="none" stroke="currentColor" stroke-width="1.5"
                                stroke-dasharray=(style.dashes()) d="M0 6H30" {}
                            use href={ "#mark-" (style.mark) } fill="currentColor" x="15" y="6" {}
                        }
                    }
                    Key::Guide(limit) => {
                        path.guide fill="none" stroke=(GUIDE_COLOR) stroke-dasharray=(limit.dashes()) d="M0 6H30" {}
                    }
                }
            }
        }
    }
}
