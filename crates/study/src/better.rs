//! Which way a number is better.

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

#[allow(clippy::cast_precision_loss, reason = "counts and times, good to 53 bits")]
pub(super) fn float(value: u64) -> f64 {
    value as f64
}
