//! Instruments on systems other than Linux: they are listed, and report why they cannot run.

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::{KnownEvent, Pmu};

use crate::{ArmResult, EventGroupsResult, Targets};

/// Returns why an instrument without selectable events cannot be armed.
pub(crate) fn available() -> Result<Vec<Unavailable>, Unavailable> {
    Err(needs_linux())
}

/// Returns why such an instrument cannot be armed.
pub(crate) fn arm(_: &Targets) -> ArmResult {
    Err(needs_linux())
}

/// Returns why an instrument with selectable events cannot be armed.
pub(crate) fn events_available(_: &[String]) -> Result<Vec<Unavailable>, Unavailable> {
    Err(needs_linux())
}

/// Returns why its events cannot be divided into groups.
pub(crate) fn divide_events(_: &[String]) -> EventGroupsResult {
    Err(needs_linux())
}

/// Returns why such an instrument cannot be armed.
pub(crate) fn arm_events(_: &Targets, _: &[String]) -> ArmResult {
    Err(needs_linux())
}

/// Returns the processor's performance counters: unknown here.
#[must_use]
pub fn pmu() -> Pmu {
    Pmu::default()
}

/// Returns every event name known on this machine: none here.
#[must_use]
pub fn known_events() -> Vec<KnownEvent> {
    Vec::new()
}

fn needs_linux() -> Unavailable {
    Unavailable {
        reason: "this instrument uses facilities that only Linux has".to_owned(),
        remedy: "use Linux".to_owned(),
    }
}
