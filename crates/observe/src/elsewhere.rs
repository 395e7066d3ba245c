//! Where there is no Linux: instruments that watch from outside are on the list all the same, and say why
//! they cannot run.

use ipcperf_model::Unavailable;

use crate::{Parties, Watch};

pub(crate) fn available() -> Result<Vec<Unavailable>, Unavailable> {
    Err(needs_linux())
}

pub(crate) fn arm(_: &Parties) -> Result<Box<dyn Watch>, Unavailable> {
    Err(needs_linux())
}

fn needs_linux() -> Unavailable {
    Unavailable {
        reason: "it watches by means that only Linux has".to_owned(),
        remedy: "needs Linux".to_owned(),
    }
}
