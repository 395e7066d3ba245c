//! Figures: from a description and summaries to a picture.
//!
//! ```text
//! Description, [Summarised] -> Chart (panels, axes, curves) -> SVG in a report, SVG, PDF, PNG in a folder
//! ```

mod axis;
mod chart;
mod counted;
mod description;
mod distribution;
mod draw;
mod file;
mod group;
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

pub(crate) use chart::{Chart, Names};
pub(crate) use counted::counted;
pub(crate) use description::FIGURES;
pub(crate) use draw::{Standing, marks, panel};
pub(crate) use file::write_all;
pub(crate) use legend::entries;
#[cfg(test)]
pub(crate) use sheet::sheet;
pub(crate) use style::{DARK, DARK_GROUND, LIGHT};
