//! `trust`: reliability of the figures on a machine that varies.
//!
//! Measures how soon a median is known, whether exactly the runs that a neighbour disturbed are marked, and whether one
//! mode is distinguished from two.

mod execution;
mod modes;
mod neighbor;
mod precision;

use crate::finding::Finding;
use crate::program::Ipcperf;

/// Makes all measurements, in about six minutes.
pub(crate) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    [precision::measure(ipcperf), neighbor::measure(ipcperf), modes::measure(ipcperf)].concat()
}
