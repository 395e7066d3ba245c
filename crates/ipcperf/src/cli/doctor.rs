//! `ipcperf doctor`.

use super::arguments::DoctorArguments;
use crate::doctor::{Cleaning, examine, left_behind};
use crate::doctor::{doctor_json, doctor_page};
use crate::error::{Ending, Error};
use crate::printing::print;
use crate::program::environment;
use ipcperf_plan::machine::warnings;
use ipcperf_report::terminal::columns;

pub(super) fn doctor(arguments: &DoctorArguments) -> Result<Ending, Error> {
    let warnings = warnings(&environment());
    let (findings, pmu) = (examine(), ipcperf_observe::counters::pmu());
    let cleaning = if arguments.clean { Cleaning::Remove } else { Cleaning::Look };
    let left = left_behind(cleaning);
    if arguments.json {
        return print(&doctor_json(&findings, &pmu, &warnings, &left));
    }
    print(&doctor_page(&findings, &pmu, &warnings, &left, columns()))
}
