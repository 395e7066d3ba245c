//! `ipcperf doctor`.

use super::arguments::DoctorArguments;
use crate::doctor::examine;
use crate::error::{Ending, Error};
use crate::machine::{Environment, warnings};
use crate::output::{doctor_json, doctor_page, print};

pub(super) fn doctor(arguments: &DoctorArguments) -> Result<Ending, Error> {
    let warnings = warnings(&Environment::read());
    let (findings, pmu) = (examine(), ipcperf_observe::counters::pmu());
    if arguments.json {
        return print(&doctor_json(&findings, &pmu, &warnings));
    }
    print(&doctor_page(&findings, &pmu, &warnings))
}
