//! Whether an instrument disturbs the runs that it observes.

use ipcperf_model::instrument::{self, Disturbs};

/// Whether one of `instruments` disturbs. An unknown instrument is assumed to.
pub(super) fn disturb(instruments: &[String]) -> bool {
    let known = |name: &String| instrument::find(name);
    instruments.iter().any(|name| known(name).is_none_or(|it| it.disturbs == Disturbs::Yes))
}
