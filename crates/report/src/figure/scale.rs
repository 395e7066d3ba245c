//! Scales of axes. `axis.rs` decides which axis has which scale.

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
