//! Ratio that decides whether two medians are called tied.

/// Ratio below which two medians are called tied.
pub(crate) const TIE_RATIO: f64 = 1.05;
