//! Figures: from a description and summaries to a picture.
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
mod group;
mod kept;
mod layout;
mod legend;
mod median;
mod modes;
mod notes;
mod quantity;
mod reference;
mod sheet;
mod style;
#[cfg(test)]
mod tests;
mod trace;

pub(crate) use axis::Scale;
pub(crate) use chart::{Chart, Names};
pub(crate) use counted::counted;
pub(crate) use description::FIGURES;
pub(crate) use draw::{Standing, marks, panel};
pub(crate) use file::write_all;
pub(crate) use finding::{Along, Finding};
pub(crate) use legend::entries;
pub(crate) use quantity::Quantity;
#[cfg(test)]
pub(crate) use sheet::sheet;
pub(crate) use style::{DARK, DARK_GROUND, LIGHT};
pub(crate) use trace::{Plot, Sketch, Trace, Traced};
