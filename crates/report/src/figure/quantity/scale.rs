//! Scales of axes. This is where an axis becomes linear or logarithmic.
//!
//! [`Quantity::scale`] decides for every axis. The quantity of a study's axis carries a scale that is chosen where the
//! quantity is created:
//!
//! - the horizontal axis by `factor_axis` (`presentation/plot_data.rs`): logarithmic, or rows;
//! - the vertical axis of a figure by `plot` (`presentation/figures.rs`): logarithmic, or linear if the study file has
//!   `scale = "linear"`;
//! - the vertical axis of a claim by `plot` (`presentation/claims.rs`): logarithmic, or linear for shares;
//! - p-values (`presentation/p_values.rs`): linear.
//!
//! The positions of values and ticks on each scale are in `axis.rs`.

use super::Quantity;

/// Scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Logarithmic, in powers of two.
    Log2,
    /// Logarithmic, in powers of ten.
    Log10,
    /// Linear, from 0 to 1.
    Fraction,
    /// Linear, including 0.
    Linear,
    /// Rows below each other.
    Categorical,
}

impl Quantity {
    /// Returns the scale of the axis.
    pub const fn scale(&self) -> Scale {
        match self {
            Self::BufferBytes => Scale::Log2,
            Self::CumulatedShare => Scale::Fraction,
            Self::Case => Scale::Categorical,
            Self::Study(studied) => studied.scale,
            Self::Bandwidth
            | Self::RoundTripMean
            | Self::SingleRoundTrip
            | Self::ShareOfLimit
            | Self::CpuPerByte
            | Self::CpuPerMessage
            | Self::Counter(..) => Scale::Log10,
        }
    }
}
