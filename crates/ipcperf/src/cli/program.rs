//! `ipcperf as PROGRAM ARGS...`: stands for a program of the documents; `--install DIR` makes links, `--about PROGRAM`
//! tells what is not as it was. Alone it lists them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::known::Known;
use crate::dropin;
use crate::error::{Ending, Error};
use crate::output::print;

#[derive(Args, Debug)]
pub(super) struct ProgramArguments {
    /// Make a link to ipcperf in DIR by the name of each program
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "program")]
    install: Option<PathBuf>,
    /// Print how PROGRAM is used, and what is not as in the original
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["program", "install"])]
    #[arg(value_parser = Known::programs(), hide_possible_values = true)]
    about: Option<String>,
    #[arg(value_name = "PROGRAM", help = programs_help())]
    #[arg(value_parser = Known::programs(), hide_possible_values = true)]
    program: Option<String>,
    /// What PROGRAM takes: wrong arguments have it say what that is
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

fn programs_help() -> String {
    Known::programs().help("One of [default: list them]")
}

/// Ends as the program that was named does; without one, tells which there are.
///
/// # Errors
/// Usage where no program has that name; that links cannot be made.
pub(super) fn stand_for(arguments: &ProgramArguments) -> Result<Ending, Error> {
    match arguments {
        ProgramArguments { install: Some(folder), .. } => dropin::install(folder),
        ProgramArguments { about: Some(name), .. } => print(&dropin::about(name)?),
        ProgramArguments { program: Some(name), arguments, .. } => {
            dropin::stand_for(name, arguments).map(Ending::OfProgram)
        }
        _ => print(&dropin::list()),
    }
}
