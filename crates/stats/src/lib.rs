//! Pure numbers for ipcperf: no input or output, no clock, no unsafe, no randomness but what is
//! handed in.

#![forbid(unsafe_code)]

mod quantile;

pub use quantile::{Quartiles, quantile, quartiles};
