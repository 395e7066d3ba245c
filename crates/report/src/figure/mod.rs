//! Figures: from descriptions and summaries to graphics.
//!
//! ```text
//! Description, [Summarised] -+
//!                            +-> Chart (panels, axes, curves) -> SVG in a report, SVG, PDF, PNG in a folder
//! Sketch (of a study) -------+
//! ```

mod axis;
mod chart;
mod counted;
mod description;
mod distribution;
mod draw;
mod file;
mod finding;
mod frame;
mod group;
mod layout;
mod legend;
mod make;
mod median;
mod modes;
mod notes;
mod quantity;
mod reference;
mod scale;
mod sheet;
mod style;
#[cfg(test)]
mod tests;
mod trace;

pub use chart::{Along, Chart, Finding, Names};
pub use counted::counted;
pub use description::FIGURES;
pub use draw::{Standing, marks, panel};
pub use file::write_all;
pub use make::chart;
pub use scale::Scale;

pub use legend::{Key, entries};
pub use quantity::Quantity;
pub use sheet::sheet;
pub use style::{DARK, DARK_GROUND, LIGHT};
pub use trace::{Plot, Sketch, Trace, Traced};
