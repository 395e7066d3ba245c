//! Errors of the argument parser, each on one line with the help screen to read.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap::error::ErrorKind;

use crate::printing::print_message;

use super::arguments::Arguments;

/// Prints help or version to standard output, and everything else as an error. Returns the exit code.
pub(super) fn report(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // A reader that has closed the pipe is not an error.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let command = command_path(std::env::args_os().skip(1));
    print_message(&format!("ipcperf: {} (see {command} --help)", on_one_line(&error.to_string())));
    ExitCode::from(2)
}

/// Joins the lines of an error of the argument parser; leaves out the usage, which the help screen has.
fn on_one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let message = lines.take_while(|line| {
        !line.starts_with("Usage:") && !line.starts_with("For more information")
    });
    let joined = message.collect::<Vec<_>>().join(" ");
    joined.trim_start_matches("error: ").replace(" tip: ", "; ")
}

/// Returns the command that `arguments` name, such as `ipcperf study run`.
fn command_path(arguments: impl Iterator<Item = OsString>) -> String {
    let mut command = Arguments::command();
    let mut path = command.get_name().to_owned();
    for argument in arguments {
        let Some(next) = command.find_subcommand(&argument).cloned() else { break };
        path = format!("{path} {}", next.get_name());
        command = next;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_screen_is_that_of_the_command() {
        let path = |line: &str| command_path(line.split(' ').map(OsString::from));
        assert_eq!(path("run --nonsense"), "ipcperf run");
        assert_eq!(path("study run --nonsense"), "ipcperf study run");
        assert_eq!(path("--nonsense run"), "ipcperf");
    }

    #[test]
    fn a_suggestion_follows_on_the_same_line() {
        let text = "error: unexpected argument '--cleen' found\n\n  tip: a similar argument exists: '--clean'\n\nUsage: x\n";
        let line = "unexpected argument '--cleen' found; a similar argument exists: '--clean'";
        assert_eq!(on_one_line(text), line);
    }
}
