//! Direction in which a metric improves.

/// Direction in which a metric improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Larger values are better.
    Higher,
    /// Smaller values are better.
    Lower,
}

#[allow(clippy::cast_precision_loss, reason = "counts and times, good to 53 bits")]
pub(super) fn float(value: u64) -> f64 {
    value as f64
}
