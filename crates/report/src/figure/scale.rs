//! How values lie along an axis.

/// How values lie along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// In powers of two.
    Binary,
    /// In powers of ten.
    Decimal,
    /// From nothing to all, evenly.
    Share,
    /// Evenly, from 0 on.
    Even,
    /// One row below the other.
    Rows,
}
