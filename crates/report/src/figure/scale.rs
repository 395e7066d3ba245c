//! Scales of axes.

/// Scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Logarithmic, in powers of two.
    Binary,
    /// Logarithmic, in powers of ten.
    Decimal,
    /// Linear, from 0 to 1.
    Share,
    /// Linear, including 0.
    Even,
    /// Rows below each other.
    Rows,
}
