//! `ipcperf compat PROGRAM ARGS...`: runs as a compatibility program. `--install DIR` makes links, `--about PROGRAM` prints
//! usage and differences from the original; without arguments, lists the programs.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::suggestions::Known;
use crate::compat;
use crate::error::{Error, ExitStatus};
use crate::printing::print;

#[derive(Args, Debug)]
pub(super) struct CompatArguments {
    /// In DIR, create one link for each program name; a link called lat_pipe, for example, runs ipcperf compat
    /// lat_pipe. DIR is created if it is missing
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "call")]
    install: Option<PathBuf>,
    /// Print the usage of PROGRAM, and how ipcperf's version differs from the original
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["call", "install"])]
    #[arg(value_parser = Known::programs(), hide_possible_values = true)]
    about: Option<String>,
    // A single list: everything after the program belongs to it, including flags that this command has too.
    #[arg(value_name = "PROGRAM", num_args = 0.., help = programs_help())]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_hint = ValueHint::CommandName)]
    call: Vec<OsString>,
}

fn programs_help() -> String {
    Known::programs().help(
        "Program to imitate, followed by its arguments. Without it, ipcperf compat lists all programs. One of",
    )
}

/// Runs as the named program and returns its exit code; without a name, lists the programs.
///
/// # Errors
/// Returns a usage error if no program has that name. Also fails if links cannot be created.
pub(super) fn run_compat(arguments: &CompatArguments) -> Result<ExitStatus, Error> {
    match arguments {
        CompatArguments { install: Some(folder), .. } => compat::install(folder),
        CompatArguments { about: Some(name), .. } => print(&compat::about(name)?),
        CompatArguments { call, .. } => match call.split_first() {
            Some((name, arguments)) => compat::run_program(&name.to_string_lossy(), arguments)
                .map(ExitStatus::CompatProgram),
            None => print(&compat::list()),
        },
    }
}
