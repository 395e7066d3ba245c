//! Whether an instrument disturbs the runs that it observes.

use ipcperf_model::instrument::{self, Intrusive};

/// Whether one of `instruments` disturbs. An unknown instrument is assumed to.
pub(super) fn is_any_intrusive(instruments: &[String]) -> bool {
    let known = |name: &String| instrument::find(name);
    instruments.iter().any(|name| known(name).is_none_or(|it| it.intrusive == Intrusive::Yes))
}
