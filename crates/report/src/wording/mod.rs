//! Wording shared by tables, figures and reports.

mod amounts;
pub(crate) mod figure_text;
mod heading;

pub(crate) use amounts::{amount, p_value};
pub use heading::Beside;
pub(crate) use heading::{Heading, SELDOM, TableHeading, by_heading, headings, in_words};
