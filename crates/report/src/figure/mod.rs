//! Figures: from descriptions and summaries to graphics.
//!
//! ```text
//! FigureSpec, [AnalyzedFile] -+
//!                             +-> Chart (panels, axes, curves) -> SVG in a report, SVG, PDF, PNG in a folder
//! ChartSpec (of a study) -----+
//! ```

mod axis;
mod axis_unit;
mod build;
mod chart;
mod chart_spec;
mod converter;
mod distribution;
mod draw;
mod event_figures;
mod figure_spec;
mod file;
mod finding;
mod frame;
mod group;
mod layout;
mod legend;
mod limit_kind;
mod median;
mod modes;
mod notes;
mod quantity;
mod reference;
mod scale;
mod scatter;
mod split;
mod style;
mod svg_document;
#[cfg(test)]
mod tests;

pub use build::build_chart;
pub use chart::{Chart, Finding, FindingAxis, SeriesNames};
pub use draw::{PanelPosition, marks, panel};
pub use event_figures::event_figures;
pub use figure_spec::FIGURES;
pub use file::write_all;

pub use chart_spec::{ChartSpec, PanelSpec, Trace, TracePoint};
pub use legend::{Key, legend_entries};
pub use quantity::Quantity;
pub use scale::Scale;
pub use style::{DARK_BACKGROUND, DARK_COLORS, LIGHT_COLORS};
pub use svg_document::svg_document;
