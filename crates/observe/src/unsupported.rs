//! Instruments where there is no Linux: they are on the list all the same, and say why they cannot run.

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::{Known, Pmu};

use crate::{Armed, Division, Parties, Watch};

/// Returns why an instrument without a choice of events cannot be armed.
pub(crate) fn available() -> Result<Vec<Unavailable>, Unavailable> {
    Err(needs_linux())
}

/// Returns why it cannot be armed.
pub(crate) fn arm(_: &Parties) -> Result<Box<dyn Watch>, Unavailable> {
    Err(needs_linux())
}

/// Returns why an instrument with a choice of events cannot be armed.
pub(crate) fn events_available(_: &[String]) -> Result<Vec<Unavailable>, Unavailable> {
    Err(needs_linux())
}

/// Returns why its events cannot be divided into parts.
pub(crate) fn divide_events(_: &[String]) -> Division {
    Err(needs_linux())
}

/// Returns why it cannot be armed.
pub(crate) fn arm_events(_: &Parties, _: &[String]) -> Armed {
    Err(needs_linux())
}

/// Performance counters of the processor: none that are known.
#[must_use]
pub fn pmu() -> Pmu {
    Pmu::default()
}

/// Names of events: none.
#[must_use]
pub fn known() -> Vec<Known> {
    Vec::new()
}

fn needs_linux() -> Unavailable {
    Unavailable {
        reason: "it watches by means that only Linux has".to_owned(),
        remedy: "needs Linux".to_owned(),
    }
}
