//! Where there is no Linux: counters are on the list all the same, and say why they cannot run.

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::{Known, Pmu};

use crate::{Armed, Division, Parties};

/// What there is to count with here: nothing that is known of.
#[must_use]
pub fn pmu() -> Pmu {
    Pmu::default()
}

/// Every word for an event: none.
#[must_use]
pub fn known() -> Vec<Known> {
    Vec::new()
}

pub(super) fn available(_: &[String]) -> Result<Vec<Unavailable>, Unavailable> {
    Err(needs_linux())
}

pub(super) fn divide(_: &[String]) -> Division {
    Err(needs_linux())
}

pub(super) fn arm(_: &Parties, _: &[String]) -> Armed {
    Err(needs_linux())
}

fn needs_linux() -> Unavailable {
    Unavailable {
        reason: "it counts with perf_event_open, which only Linux has".to_owned(),
        remedy: "needs Linux".to_owned(),
    }
}
