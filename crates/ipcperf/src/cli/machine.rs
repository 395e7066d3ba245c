//! `ipcperf machine`.

use std::io::IsTerminal;

use ipcperf_engine::limits::{self, Effort};

use super::arguments::MachineArguments;
use crate::build_info::environment;
use crate::cli::session::topology;
use crate::error::{Error, ExitStatus};
use crate::printing::{print, print_message};
use ipcperf_plan::machine::warnings;
use ipcperf_report::terminal::{columns, machine_json, machine_page};

/// Sizes at which copies are measured, in factors of four, from a cache line to more than most caches.
const COPY_SIZES: [usize; 10] =
    [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20];

pub(super) fn machine(arguments: &MachineArguments) -> Result<ExitStatus, Error> {
    let environment = environment();
    let warnings = warnings(&environment);
    if std::io::stderr().is_terminal() {
        print_message(
            "ipcperf: measuring the hardware limits of this machine, which takes a few seconds",
        );
    }
    let limits = limits::measure(&topology()?, &COPY_SIZES, Effort::Thorough);
    if arguments.json {
        return print(&machine_json(&environment, &limits, &warnings));
    }
    print(&machine_page(&environment, &limits, &warnings, columns()))
}
