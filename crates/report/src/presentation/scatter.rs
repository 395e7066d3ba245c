//! Spread of the repetitions from which a figure is called scattered.

/// Maximum ratio of the interquartile range to the median of a figure that is not called scattered.
pub const MAX_RELATIVE_IQR: f64 = 0.2;
