//! The command line: arguments, and the code that executes each command.

mod arguments;
mod compat_program;
mod completions;
mod custom_permission;
mod doctor;
mod export;
mod form;
mod list;
mod machine;
mod man;
mod measure;
mod parse_error;
mod report;
mod results_input;
mod resume;
mod session;
mod show;
mod study;
mod suggestions;
mod trace;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use crate::compat;
use crate::error::{Error, ExitStatus};
use crate::printing::print_message;
#[cfg(test)]
pub(crate) use show::full_page;

use arguments::{Arguments, Command, SurveyArguments};

/// Parses the arguments, executes the command and returns the exit code.
pub(crate) fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return parse_error::report(&error),
    };
    exit_code(dispatch(&arguments))
}

/// Entry point if this program was started under the name of a compatibility program.
pub(crate) fn compat_main(program: &str, arguments: &[OsString]) -> ExitCode {
    exit_code(compat::run_program(program, arguments).map(ExitStatus::CompatProgram))
}

fn exit_code(result: Result<ExitStatus, Error>) -> ExitCode {
    result.map_or_else(|error| report_error(&error), ExitCode::from)
}

/// Prints the error that ends the command and returns its exit code.
pub(crate) fn report_error(error: &Error) -> ExitCode {
    // Errors that were reported as JSON are not reported again as text.
    if !matches!(error, Error::AlreadyReported) {
        print_message(&error.message());
    }
    error.exit_code()
}

fn dispatch(arguments: &Arguments) -> Result<ExitStatus, Error> {
    match &arguments.command {
        None => measure::survey(&SurveyArguments::default()),
        Some(Command::Survey(arguments)) => measure::survey(arguments),
        Some(Command::Run(arguments)) => measure::run(arguments),
        Some(Command::Trace(arguments)) => trace::trace(arguments),
        Some(Command::Plan(arguments)) => measure::plan(arguments),
        Some(Command::List(arguments)) => list::list(arguments),
        Some(Command::Machine(arguments)) => machine::machine(arguments),
        Some(Command::Doctor(arguments)) => doctor::doctor(arguments),
        Some(Command::Show(arguments)) => show::show(arguments),
        Some(Command::Export(arguments)) => export::export(arguments),
        Some(Command::Resume(arguments)) => resume::resume(arguments),
        Some(Command::Report(arguments)) => report::report(arguments),
        Some(Command::Study(arguments)) => study::study(arguments),
        Some(Command::Compat(arguments)) => compat_program::run_compat(arguments),
        Some(Command::Completions(arguments)) => completions::completions(arguments),
        Some(Command::Man) => man::man(),
    }
}
