//! The command line: arguments, and the code that executes each command.

mod arguments;
mod completions;
mod custom;
mod doctor;
mod export;
mod form;
mod known;
mod list;
mod machine;
mod man;
mod measure;
mod program;
mod report;
mod resume;
mod session;
mod show;
mod stored;
mod study;
mod trace;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;

use crate::dropin;
use crate::error::{Ending, Error};
use crate::printing::tell;
#[cfg(test)]
pub(crate) use show::whole_page;

use arguments::{Arguments, Command, SurveyArguments};

/// Parses the arguments, executes the command and returns the exit code.
pub(crate) fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return explain(&error),
    };
    end(obey(&arguments))
}

/// Entry point if this program was started under the name of a compatibility program.
pub(crate) fn main_of(program: &str, arguments: &[OsString]) -> ExitCode {
    end(dropin::stand_for(program, arguments).map(Ending::OfProgram))
}

fn end(came: Result<Ending, Error>) -> ExitCode {
    came.map_or_else(|error| refuse(&error), ExitCode::from)
}

/// Prints the error that ends the command and returns its exit code.
pub(crate) fn refuse(error: &Error) -> ExitCode {
    // Errors that were reported as JSON are not reported again as text.
    if !matches!(error, Error::Told) {
        tell(&error.told());
    }
    error.exit_code()
}

fn obey(arguments: &Arguments) -> Result<Ending, Error> {
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
        Some(Command::As(arguments)) => program::stand_for(arguments),
        Some(Command::Completions(arguments)) => completions::completions(arguments),
        Some(Command::Man) => man::man(),
    }
}

/// Help and version go to standard output; everything else is an error, printed on one line.
fn explain(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // A reader that has closed the pipe is not an error.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.to_string();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let said = lines.take_while(|line| {
        !line.starts_with("Usage:") && !line.starts_with("For more information")
    });
    let said = said.collect::<Vec<_>>().join(" ");
    tell(&format!("ipcperf: {} (see ipcperf --help)", said.trim_start_matches("error: ")));
    ExitCode::from(2)
}
