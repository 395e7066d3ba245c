//! `ipcperf as PROGRAM ARGS...`: runs as a compatibility program. `--install DIR` makes links, `--about PROGRAM` prints
//! usage and differences from the original; without arguments, lists the programs.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::known::Known;
use crate::dropin;
use crate::error::{Ending, Error};
use crate::printing::print;

#[derive(Args, Debug)]
pub(super) struct ProgramArguments {
    /// Make a link to ipcperf in DIR by the name of each program
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "call")]
    install: Option<PathBuf>,
    /// Print how PROGRAM is used, and what is not as in the original
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["call", "install"])]
    #[arg(value_parser = Known::programs(), hide_possible_values = true)]
    about: Option<String>,
    // A single list: everything after the program belongs to it, including flags that this command has too.
    #[arg(value_name = "PROGRAM", num_args = 0.., help = programs_help())]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_hint = ValueHint::CommandName)]
    call: Vec<OsString>,
}

fn programs_help() -> String {
    Known::programs().help("What PROGRAM takes comes after it [default: list them]; it is one of")
}

/// Runs as the named program and returns its exit code; without a name, lists the programs.
///
/// # Errors
/// Returns a usage error if no program has that name. Also fails if links cannot be created.
pub(super) fn stand_for(arguments: &ProgramArguments) -> Result<Ending, Error> {
    match arguments {
        ProgramArguments { install: Some(folder), .. } => dropin::install(folder),
        ProgramArguments { about: Some(name), .. } => print(&dropin::about(name)?),
        ProgramArguments { call, .. } => match call.split_first() {
            Some((name, arguments)) => {
                dropin::stand_for(&name.to_string_lossy(), arguments).map(Ending::OfProgram)
            }
            None => print(&dropin::list()),
        },
    }
}
