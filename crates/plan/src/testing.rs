//! Cases made by hand, for tests of what is decided about cases.

use ipcperf_model::RunSpec;
use ipcperf_model::placement::Placement;

use crate::{Case, Watched};

/// A case called `id`, for tests of what is decided about cases.
pub fn case(id: &str) -> Case {
    let spec = RunSpec { cpus: Some([0, 0]), ..RunSpec::usual("pipe", 64) };
    let watched = Watched::default();
    let (name, matrices) = (ipcperf_model::case_id::NameParts::default(), Vec::new());
    Case { id: id.to_owned(), name, placement: Placement::Same, spec, watched, matrices }
}
