//! Wording shared by tables, figures and reports.

mod amounts;
mod heading;
mod limit;
pub(crate) mod metric_text;
mod start_time;
mod tie;

pub(crate) use amounts::{amount, p_value};
pub use heading::ErrorBar;
pub(crate) use heading::{
    Heading, MIN_CLASS_SHARE, TableHeading, by_heading, conditions_text, headings,
};
pub(crate) use limit::limit_text;
pub use start_time::start_time_text;
pub(crate) use tie::TIE_RATIO;
