//! `ipcperf doctor`.

use super::arguments::DoctorArguments;
use crate::build_info::environment;
use crate::doctor::{Cleanup, examine, leftovers};
use crate::doctor::{doctor_json, doctor_page};
use crate::error::{Error, ExitStatus};
use crate::printing::print;
use ipcperf_plan::machine::warnings;
use ipcperf_report::terminal::columns;

pub(super) fn doctor(arguments: &DoctorArguments) -> Result<ExitStatus, Error> {
    let warnings = warnings(&environment());
    let (findings, pmu) = (examine(), ipcperf_observe::counters::pmu());
    let cleaning = if arguments.clean { Cleanup::Remove } else { Cleanup::List };
    let left = leftovers(cleaning);
    if arguments.json {
        return print(&doctor_json(&findings, &pmu, &warnings, &left));
    }
    print(&doctor_page(&findings, &pmu, &warnings, &left, columns()))
}
