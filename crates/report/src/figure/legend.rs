//! Legend of a chart: each series and guide with its style.

use maud::{Markup, html};

use super::chart::{Chart, Names};
use super::frame::{GUIDE, short};
use super::reference::Limit;
use super::style::Style;

/// An entry of the legend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: Key,
    pub name: String,
}

/// Line that an entry of the legend explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A series, by number.
    Series(usize),
    /// A reference line.
    Guide(Limit),
}

/// Returns the legend of `chart`: series in the order of the report, then guides.
pub fn entries(chart: &Chart, names: &Names) -> Vec<Entry> {
    let series = chart.series().into_iter();
    let series = series
        .map(|number| Entry { key: Key::Series(number), name: names.name(number).to_owned() });
    let guides = chart.limits().into_iter();
    let guides =
        guides.map(|limit| Entry { key: Key::Guide(limit), name: limit.name().to_owned() });
    series.chain(guides).collect()
}

impl Entry {
    /// Draws a sample of the style, 30 by 12 units, with its upper left corner at `left`, `top`.
    pub fn swatch(&self, left: f64, top: f64) -> Markup {
        let (left, top) = (short(left), short(top));
        html! {
            svg.swatch viewBox="0 0 30 12" width="30" height="12" x=(left) y=(top) aria-hidden="true" {
                @match self.key {
                    Key::Series(number) => {
                        @let style = Style::of(number);
                        g class={ "colour-" (style.colour) } color=(style.print_colour()) {
                            path fill="none" stroke="currentColor" stroke-width="1.5"
                                stroke-dasharray=(style.dashes()) d="M0 6H30" {}
                            use href={ "#mark-" (style.mark) } fill="currentColor" x="15" y="6" {}
                        }
                    }
                    Key::Guide(limit) => {
                        path.guide fill="none" stroke=(GUIDE) stroke-dasharray=(limit.dashes()) d="M0 6H30" {}
                    }
                }
            }
        }
    }
}
