//! What people and other programs read of results: [`terminal`] tables, [`figure`]s, the [`html`] report, [`export`]ers.
//!
//! [`presentation`] is what a study shows of results, wherever it is shown.

mod error;
pub mod export;
pub mod figure;
pub mod html;
pub mod presentation;
pub mod terminal;
pub mod wording;

pub use error::Error;
pub use wording::{Beside, amount, p_value};
