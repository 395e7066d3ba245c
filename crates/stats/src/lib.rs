//! Pure numbers for ipcperf: no input or output, no clock, no unsafe, no randomness but what is
//! handed in.

#![forbid(unsafe_code)]

mod autocorrelation;
mod blocks;
mod bootstrap;
mod curve;
mod density;
mod dip;
mod effect;
mod modality;
mod normal;
mod quantile;
mod spread;
mod steadiness;
mod trend;

pub use autocorrelation::{Autocorrelation, LjungBox, autocorrelation};
pub use blocks::OverBlocks;
pub use bootstrap::{Bootstrap, Interval};
pub use curve::{
    Blocks, ChangePoint, Course, Crossing, Curve, CurveError, Inflection, Lasting, LevelShape,
    LevelValue, NoAnswer, OpenInterval, PairedMeans, Peak, Place, Plateau, Slope, Steepest, Turn,
    crossing, geometric_means, shapes,
};
pub use dip::{Dip, dip_test};
pub use effect::cliffs_delta;
pub use modality::{Mode, modes};
pub use quantile::{QuantileType, Quartiles, quantile, quantile_of_type, quartiles};
pub use spread::{interquartile_range, median, median_absolute_deviation};
pub use steadiness::{Steadiness, is_steady, warm_up};
pub use trend::{Trend, trend};
