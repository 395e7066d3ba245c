//! The command line: what was typed, and which part of the program answers it.

mod arguments;
mod list;
mod measure;
mod show;

use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;

use crate::error::{Ending, Error};
use crate::output::tell;
use arguments::{Arguments, Command, SurveyArguments};

/// Parses the arguments, does what they say, and turns what came of it into an exit code.
pub(crate) fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return explain(&error),
    };
    match obey(&arguments) {
        Ok(ending) => ending.into(),
        Err(error) => {
            tell(&format!("ipcperf: {error}"));
            error.exit_code()
        }
    }
}

fn obey(arguments: &Arguments) -> Result<Ending, Error> {
    match &arguments.command {
        None => measure::survey(&SurveyArguments::default()),
        Some(Command::Survey(arguments)) => measure::survey(arguments),
        Some(Command::Run(arguments)) => measure::run(arguments),
        Some(Command::Plan(arguments)) => measure::plan(arguments),
        Some(Command::List(arguments)) => list::list(arguments),
        Some(Command::Show(arguments)) => show::show(arguments),
    }
}

/// Help and version are answers; everything else is a mistake, told in one line where clap's first
/// line says it all.
fn explain(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // A reader that has gone away is a clean end.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.to_string();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default().trim_start_matches("error: ");
    let tip = lines.find_map(|line| line.trim().strip_prefix("tip: "));
    let tip = tip.map_or_else(String::new, |tip| format!("; {tip}"));
    tell(&format!("ipcperf: {first}{tip} (see ipcperf --help)"));
    ExitCode::from(2)
}
