//! Whether being watched changed a run.

use ipcperf_model::instrument::{self, Disturbs};

/// Whether one of `instruments` disturbs; one that is not known may do anything.
pub(super) fn disturb(instruments: &[String]) -> bool {
    let known = |name: &String| instrument::find(name);
    instruments.iter().any(|name| known(name).is_none_or(|it| it.disturbs == Disturbs::Yes))
}
