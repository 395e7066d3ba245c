//! Mechanisms that can be tested on this machine and with this build.

use ipcperf_engine::mechanism;

use crate::skip::skip;

/// Returns those of `names` that can run here. The others are reported as skipped.
pub(crate) fn available<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let can_run = |name: &&&str| {
        let mechanism = mechanism::find(&(**name).into()).expect("a mechanism");
        mechanism.available().map_err(|missing| skip(name, &missing.reason)).is_ok()
    };
    names.iter().filter(can_run).copied().collect()
}
