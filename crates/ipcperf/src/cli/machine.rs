//! `ipcperf machine`.

use super::arguments::MachineArguments;
use crate::error::{Ending, Error};
use crate::machine::{Environment, warnings};
use crate::output::{machine_json, machine_page, print};

pub(super) fn machine(arguments: &MachineArguments) -> Result<Ending, Error> {
    let environment = Environment::read();
    let warnings = warnings(&environment);
    if arguments.json {
        return print(&machine_json(&environment, &warnings));
    }
    print(&machine_page(&environment, &warnings))
}
