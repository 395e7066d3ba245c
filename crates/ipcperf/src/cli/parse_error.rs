//! Errors of the argument parser, worded like those of ipcperf itself, each on one line with the help screen to read.

use std::error::Error as _;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory as _};
use ipcperf_model::printable::printable_line;
use ipcperf_model::suggestion::{shorten, suggestion, unknown_word};

use crate::printing::print_message;

use super::arguments::Arguments;

/// Maximum length of a word for which no similar word is suggested: short words resemble each other by chance.
const MAX_SHORT_WORD: usize = 3;

/// Prints help or version to standard output, and everything else as an error. Returns the exit code.
pub(super) fn report(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // A reader that has closed the pipe is not an error.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (path, command) = typed_command(&typed);
    let words = message(error, &path, &command, &typed);
    print_message(&printable_line(&format!("ipcperf: {words} (see {path} --help)")));
    ExitCode::from(2)
}

/// Returns the message for `error` in the arguments `typed` of `command`, which is named `path`.
fn message(error: &clap::Error, path: &str, command: &Command, typed: &[OsString]) -> String {
    let words = match error.kind() {
        ErrorKind::UnknownArgument => unknown_argument(error, path, command),
        ErrorKind::InvalidSubcommand => unknown_command(error, command),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Some(format!("{path} needs a command: {}", command_names(command).join(", ")))
        }
        ErrorKind::InvalidValue => invalid_value(error),
        ErrorKind::ValueValidation => wrong_number(error),
        ErrorKind::MissingRequiredArgument => Some(missing_arguments(error, path, typed)),
        ErrorKind::ArgumentConflict => conflict(error),
        _ => None,
    };
    words.unwrap_or_else(|| on_one_line(&error.to_string()))
}

/// Returns the text that `error` holds about `kind`.
fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// Returns the texts that `error` holds about `kind`.
fn texts(error: &clap::Error, kind: ContextKind) -> Vec<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.as_str()],
        Some(ContextValue::Strings(texts)) => texts.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

fn unknown_argument(error: &clap::Error, path: &str, command: &Command) -> Option<String> {
    let word = text(error, ContextKind::InvalidArg)?;
    let what = if word.starts_with('-') { "unknown option" } else { "unexpected argument" };
    let suggested = text(error, ContextKind::SuggestedArg).map(str::to_owned);
    let suggested = suggested.or_else(|| owner_of_option(word, path, command));
    let hint = suggested.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Some(format!("{what} `{}`{hint}", shorten(word)))
}

/// Returns the command within `command` that has the `option`, together with the option: for an option that was given
/// before the name of its command.
fn owner_of_option(option: &str, path: &str, command: &Command) -> Option<String> {
    let long = option.strip_prefix("--")?;
    let has_it = |owner: &&Command| owner.get_arguments().any(|one| one.get_long() == Some(long));
    let owner = command.get_subcommands().find(has_it)?;
    Some(format!("{path} {} {option}", owner.get_name()))
}

fn unknown_command(error: &clap::Error, command: &Command) -> Option<String> {
    let word = text(error, ContextKind::InvalidSubcommand)?;
    Some(unknown_word("command", word, command_names(command).into_iter()))
}

/// Returns the names of the commands within `command`.
fn command_names(command: &Command) -> Vec<&str> {
    command.get_subcommands().map(Command::get_name).collect()
}

fn invalid_value(error: &clap::Error) -> Option<String> {
    let argument = text(error, ContextKind::InvalidArg)?;
    let value = text(error, ContextKind::InvalidValue)?;
    if value.is_empty() {
        return Some(format!("a value is missing: {argument}"));
    }
    let known = texts(error, ContextKind::ValidValue);
    let what = argument.trim_matches(['<', '>', '[', ']', '.']).to_lowercase();
    let hint = if value.chars().count() > MAX_SHORT_WORD {
        suggestion(value, known.iter().copied())
    } else {
        format!("expected one of {}", known.join(", "))
    };
    Some(format!("unknown {what} `{}`; {hint}", shorten(value)))
}

/// Returns the message for a value that is not a number, or is not in the range of its option.
fn wrong_number(error: &clap::Error) -> Option<String> {
    let option = flag(text(error, ContextKind::InvalidArg)?);
    let value = shorten(text(error, ContextKind::InvalidValue)?);
    let cause = error.source()?;
    let is_no_integer = |error: &ParseIntError| *error.kind() == IntErrorKind::InvalidDigit;
    Some(if cause.is::<ParseFloatError>() {
        format!("{option} takes a number, not `{value}`")
    } else if cause.downcast_ref().is_some_and(is_no_integer) {
        format!("{option} takes a whole number, not `{value}`")
    } else {
        format!("invalid value `{value}` of {option}: {cause}")
    })
}

fn missing_arguments(error: &clap::Error, path: &str, typed: &[OsString]) -> String {
    let missing = texts(error, ContextKind::InvalidArg);
    let is_only = |name: &str| matches!(missing.as_slice(), [argument] if flag(argument) == name);
    if is_only("--until-ci") {
        let limits = ["--max-repetitions", "--max-time"];
        let is_given = |limit: &&str| {
            typed.iter().any(|word| word.to_string_lossy().split('=').next() == Some(*limit))
        };
        let given = limits.into_iter().find(is_given).unwrap_or("this limit");
        return format!("{given} needs --until-ci PCT");
    }
    if path == "ipcperf plan" && is_only("--mechanism") {
        return "a study, or mechanisms with -m NAMES, must be given".to_owned();
    }
    let plural = if missing.len() == 1 { "" } else { "s" };
    format!("missing argument{plural}: {}", missing.join(", "))
}

fn conflict(error: &clap::Error) -> Option<String> {
    let argument = flag(text(error, ContextKind::InvalidArg)?);
    let others = texts(error, ContextKind::PriorArg);
    let others: Vec<&str> = others.into_iter().map(flag).collect();
    match others.as_slice() {
        [] => None,
        [other] if *other == argument => Some(format!("{argument} can only be given once")),
        others => Some(format!("{argument} cannot be combined with {}", others.join(", "))),
    }
}

/// Returns an argument without its value: `--total` of `--total <BYTES>`.
fn flag(argument: &str) -> &str {
    argument.split([' ', '=']).next().unwrap_or(argument)
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

/// Returns the command that the arguments `typed` name, such as `ipcperf study run`, with its definition.
fn typed_command(typed: &[OsString]) -> (String, Command) {
    let mut command = Arguments::command();
    let mut path = command.get_name().to_owned();
    for argument in typed {
        let Some(next) = command.find_subcommand(argument).cloned() else { break };
        path = format!("{path} {}", next.get_name());
        command = next;
    }
    (path, command)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn typed(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    /// Returns the message for the arguments in `line`.
    fn told(line: &str) -> String {
        let typed = typed(line);
        let all = std::iter::once(OsString::from("ipcperf")).chain(typed.iter().cloned());
        let error = Arguments::try_parse_from(all).expect_err(line);
        let (path, command) = typed_command(&typed);
        message(&error, &path, &command, &typed)
    }

    #[test]
    fn the_help_screen_is_that_of_the_command() {
        let path = |line: &str| typed_command(&typed(line)).0;
        assert_eq!(path("run --nonsense"), "ipcperf run");
        assert_eq!(path("study run --nonsense"), "ipcperf study run");
        assert_eq!(path("--nonsense run"), "ipcperf");
    }

    #[test]
    fn an_unknown_word_gets_the_nearest_or_all() {
        assert_eq!(told("survey --quik"), "unknown option `--quik`; did you mean `--quick`?");
        assert_eq!(told("lst"), "unknown command `lst`; did you mean `list`?");
        assert_eq!(
            told("list mechansims"),
            "unknown kind `mechansims`; did you mean `mechanisms`?"
        );
        let shells = "unknown shell `csh`; expected one of bash, elvish, fish, powershell, zsh";
        assert_eq!(told("completions csh"), shells);
    }

    #[test]
    fn what_is_missing_is_named_with_what_needs_it() {
        assert_eq!(told("show"), "missing argument: <FILE>...");
        assert_eq!(told("run -m pipe --max-time 5"), "--max-time needs --until-ci PCT");
        assert_eq!(told("plan"), "a study, or mechanisms with -m NAMES, must be given");
        assert_eq!(told("run -m pipe --total"), "a value is missing: --total <BYTES>");
        assert!(told("study").starts_with("ipcperf study needs a command: list, show"));
    }

    #[test]
    fn what_does_not_fit_is_repeated() {
        let number = "--repetitions takes a whole number, not `many`";
        assert_eq!(told("run -m pipe --repetitions many"), number);
        assert_eq!(told("run -m pipe --timeout soon"), "--timeout takes a number, not `soon`");
        let both = told("run -m pipe --until-ci 2 --repetitions 3");
        assert!(both.contains("cannot be combined with"), "{both}");
    }

    #[test]
    fn other_errors_are_on_one_line() {
        let text = "error: something is wrong\n\n  tip: do something else\n\nUsage: x\n";
        assert_eq!(on_one_line(text), "something is wrong; do something else");
    }
}
