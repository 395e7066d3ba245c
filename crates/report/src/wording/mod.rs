//! Words that tables, figures and reports have in common.

mod amounts;
pub mod figure_text;
mod heading;

pub use amounts::{amount, p_value};
pub use heading::{Beside, Heading, SELDOM, by_heading, headings, in_words};
