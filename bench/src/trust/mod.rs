//! `trust`: whether the figures can be believed on a machine that moves.
//!
//! How soon a median is known, whether runs are marked that a neighbour held up and only those, and
//! whether one mode is told from two.

mod campaign;
mod modes;
mod neighbour;
mod precision;

use crate::finding::Finding;
use crate::program::Ipcperf;

/// Measures all of it, about six minutes.
pub(crate) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    [precision::measure(ipcperf), neighbour::measure(ipcperf), modes::measure(ipcperf)].concat()
}
