//! Presentation of results: [`terminal`] tables, [`figure`]s, the [`html`] report and [`export`]ers.
//!
//! [`presentation`] prepares the results of a study for all of these outputs.

mod error;
pub mod export;
pub mod figure;
pub mod html;
pub mod presentation;
pub mod terminal;
mod wording;

pub use error::Error;
pub use wording::{ErrorBar, start_time_text};
