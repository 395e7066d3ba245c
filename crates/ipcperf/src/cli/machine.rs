//! `ipcperf machine`.

use std::io::IsTerminal;

use ipcperf_engine::limits::{self, Effort};

use super::arguments::MachineArguments;
use super::measure::topology;
use crate::error::{Ending, Error};
use crate::machine::{Environment, warnings};
use crate::output::{machine_json, machine_page, print, tell};

/// The sizes at which copies are measured: by fours, from a cache line's worth to beyond most caches.
const COPY_SIZES: [usize; 10] =
    [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20];

pub(super) fn machine(arguments: &MachineArguments) -> Result<Ending, Error> {
    let environment = Environment::read();
    let warnings = warnings(&environment);
    if std::io::stderr().is_terminal() {
        tell("ipcperf: measuring the limits of this machine, some seconds");
    }
    let limits = limits::measure(&topology()?, &COPY_SIZES, Effort::Thorough);
    if arguments.json {
        return print(&machine_json(&environment, &limits, &warnings));
    }
    print(&machine_page(&environment, &limits, &warnings))
}
