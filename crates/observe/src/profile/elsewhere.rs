//! Where there is no Linux: the instrument is on the list all the same, and says why it cannot run.

use ipcperf_model::Unavailable;

use crate::{Parties, Watch};

pub(super) fn available(_: &[String]) -> Result<Vec<Unavailable>, Unavailable> {
    Err(needs_linux())
}

pub(super) fn divide(_: &[String]) -> Result<Vec<Vec<String>>, Unavailable> {
    Err(needs_linux())
}

pub(super) fn arm(_: &Parties, _: &[String]) -> Result<Box<dyn Watch>, Unavailable> {
    Err(needs_linux())
}

fn needs_linux() -> Unavailable {
    Unavailable {
        reason: "it samples by perf_event_open, which only Linux has".to_owned(),
        remedy: "needs Linux".to_owned(),
    }
}
