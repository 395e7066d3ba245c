//! Pure numbers for ipcperf: no input or output, no clock, no unsafe, no randomness but what is
//! handed in.

#![forbid(unsafe_code)]

mod bootstrap;
mod density;
mod dip;
mod modality;
mod normal;
mod quantile;
mod spread;

pub use bootstrap::{Bootstrap, Interval};
pub use dip::{Dip, dip_test};
pub use modality::{Mode, modes};
pub use quantile::{QuantileType, Quartiles, quantile, quantile_of_type, quartiles};
pub use spread::{interquartile_range, median, median_absolute_deviation};
