//! Hand-made cases for tests of decisions about cases.

use ipcperf_model::RunSpec;
use ipcperf_model::placement::Placement;

use crate::{Case, CaseInstruments};

/// Returns a case called `id` with arbitrary settings.
pub fn case(id: &str) -> Case {
    let spec = RunSpec { cpus: Some([0, 0]), ..RunSpec::with_defaults("pipe", 64) };
    let watched = CaseInstruments::default();
    let (name, matrices) = (ipcperf_model::case_id::NameParts::default(), Vec::new());
    Case {
        id: id.to_owned(),
        name,
        placement: Placement::Same,
        spec,
        instruments: watched,
        matrices,
    }
}
