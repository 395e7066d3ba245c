//! Errors of the argument parser, worded like those of ipcperf itself, each on one line with the help screen to read.

use std::error::Error as _;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory as _};
use ipcperf_model::printable::printable_line;
use ipcperf_model::suggestion::{related_words, shorten, suggestion, unknown_word};
use ipcperf_plan::Factor;

use crate::printing::print_message;

use super::arguments::Arguments;

/// Maximum length of a word that gets the list of known words instead of a similar one: short words resemble each other
/// by chance.
const MAX_SHORT_WORD: usize = 3;

/// Maximum number of commands that are named as those with an option.
const MAX_OWNERS: usize = 4;

/// Prints help or version to standard output, and everything else as an error. Returns the exit code.
pub(super) fn report(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // A reader that has closed the pipe is not an error.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (path, command) = typed_command(&typed);
    let words = message(error, &path, &command);
    print_message(&printable_line(&format!("ipcperf: {words} (see {path} --help)")));
    ExitCode::from(2)
}

/// Returns the message for `error` in the arguments of `command`, which is named `path`.
fn message(error: &clap::Error, path: &str, command: &Command) -> String {
    let words = match error.kind() {
        ErrorKind::UnknownArgument => unknown_argument(error, path, command),
        ErrorKind::InvalidSubcommand => unknown_command(error, command),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Some(format!("{path} needs a command: {}", command_names(command).join(", ")))
        }
        ErrorKind::InvalidValue => invalid_value(error),
        ErrorKind::ValueValidation => wrong_number(error),
        ErrorKind::MissingRequiredArgument => Some(missing_arguments(error, command)),
        ErrorKind::ArgumentConflict => conflict(error),
        _ => None,
    };
    words.unwrap_or_else(|| other_error(error))
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
    if !word.starts_with('-') {
        return Some(unexpected_argument(word, path, command));
    }
    let options = command.get_arguments().filter_map(Arg::get_long);
    let options: Vec<String> = options.map(|long| format!("--{long}")).collect();
    let negative = is_negative_number(word).then(|| "a value cannot be negative".to_owned());
    let related = || related_words(word, options.iter().map(String::as_str));
    let inner = || owner_of_option(word, path, command).map(|owner| did_you_mean(&owner));
    let suggested = negative.or_else(inner).or_else(|| other_owners(word)).or_else(related);
    let suggested = suggested.or_else(|| text(error, ContextKind::SuggestedArg).map(did_you_mean));
    let hint = suggested.map_or_else(String::new, |hint| format!("; {hint}"));
    Some(format!("unknown option `{}`{hint}", shorten(word)))
}

fn did_you_mean(words: &str) -> String {
    format!("did you mean `{words}`?")
}

/// Whether `word` looks like a negative number rather than like an option: the `-6` that the parser finds in `-b -64KiB`.
fn is_negative_number(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns the message for an argument that is one too many for `command`, which is named `path`.
fn unexpected_argument(word: &str, path: &str, command: &Command) -> String {
    let words = format!("unexpected argument `{}`", shorten(word));
    // Most commands on studies take the study as an argument, so users write it as one here too.
    if has_option(command, "study") {
        return format!("{words}; to name the study: {path} --study NAME FILE");
    }
    words
}

/// Whether `command` has the option `--long`.
fn has_option(command: &Command, long: &str) -> bool {
    command.get_arguments().any(|one| one.get_long() == Some(long))
}

/// Returns the command within `command` that has the `option`, together with the option: for an option that was given
/// before the name of its command.
fn owner_of_option(option: &str, path: &str, command: &Command) -> Option<String> {
    let long = option.strip_prefix("--")?;
    let owner = command.get_subcommands().find(|owner| has_option(owner, long))?;
    Some(format!("{path} {} {option}", owner.get_name()))
}

/// Returns the hint with the commands of the program that have the `option`. `None` if there are none, or so many that
/// their names would not help.
fn other_owners(option: &str) -> Option<String> {
    let mut names = Vec::new();
    collect_owners(option.strip_prefix("--")?, "ipcperf", &Arguments::command(), &mut names);
    let is_helpful = (1..=MAX_OWNERS).contains(&names.len());
    is_helpful.then(|| format!("it is an option of {}", names.join(", ")))
}

/// Adds the names of the commands within `command`, at any depth, that have the option `--long`.
fn collect_owners(long: &str, path: &str, command: &Command, names: &mut Vec<String>) {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        let path = format!("{path} {}", inner.get_name());
        if has_option(inner, long) {
            names.push(format!("`{path}`"));
        }
        collect_owners(long, &path, inner, names);
    }
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
    let hint = if value.chars().count() > MAX_SHORT_WORD {
        suggestion(value, known.iter().copied())
    } else {
        format!("expected one of {}", known.join(", "))
    };
    Some(format!("{}; {hint}", unknown_value(argument, &shorten(value))))
}

/// Returns the message for a `value` that is not one of the known values of `argument`: an option, or a positional one
/// such as `<SHELL>`.
fn unknown_value(argument: &str, value: &str) -> String {
    if argument.starts_with('-') {
        return format!("unknown value `{value}` of {}", flag(argument));
    }
    let what = argument.trim_matches(['<', '>', '[', ']', '.']).to_lowercase();
    format!("unknown {what} `{value}`")
}

/// Returns the message for a value that is not a number, or is not in the range of its option.
fn wrong_number(error: &clap::Error) -> Option<String> {
    let option = flag(text(error, ContextKind::InvalidArg)?);
    let value = shorten(text(error, ContextKind::InvalidValue)?);
    let cause = error.source()?;
    let is_no_integer = |error: &ParseIntError| *error.kind() == IntErrorKind::InvalidDigit;
    let wanted = if cause.is::<ParseFloatError>() {
        "a number"
    } else if cause.downcast_ref().is_some_and(is_no_integer) {
        // No option takes a negative number.
        if value.starts_with('-') { "a whole number, 0 or more" } else { "a whole number" }
    } else {
        let other = || format!("invalid value `{value}` of {option}: {cause}");
        return Some(out_of_range(option, &value).unwrap_or_else(other));
    };
    Some(format!("{option} takes {wanted}, not `{value}`"))
}

/// Returns the message for a whole number that is too small or too large for `option`; `None` if the option has no
/// minimum. clap would state the range in the notation of Rust, and that of the type instead of that of the option.
fn out_of_range(option: &str, value: &str) -> Option<String> {
    let number: i128 = value.parse().ok()?;
    let factor = Factor::ALL.into_iter().find(|factor| factor.flag() == option)?;
    let minimum = factor.minimum()?;
    let limit = if number < i128::from(minimum) {
        format!("at least {minimum}")
    } else {
        format!("at most {}", u32::MAX)
    };
    Some(format!("{option} must be {limit}, not `{value}`"))
}

fn missing_arguments(error: &clap::Error, command: &Command) -> String {
    let missing = texts(error, ContextKind::InvalidArg);
    let plural = if missing.len() == 1 { "" } else { "s" };
    let needs_study = command.get_positionals().any(|one| one.get_id() == "study");
    let hint = if needs_study { "; to list the bundled studies: ipcperf study list" } else { "" };
    format!("missing argument{plural}: {}{hint}", missing.join(", "))
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

/// Returns the message for an error of a rare kind, such as an argument that is not UTF-8: the description of the kind.
fn other_error(error: &clap::Error) -> String {
    let what = error.kind().as_str().unwrap_or("invalid arguments");
    match text(error, ContextKind::InvalidArg) {
        Some(argument) => format!("{argument}: {what}"),
        None => what.to_owned(),
    }
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
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use clap::Parser as _;

    use super::*;

    fn typed(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    /// Returns the message for the arguments in `line`.
    fn message_for(line: &str) -> String {
        let typed = typed(line);
        let all = std::iter::once(OsString::from("ipcperf")).chain(typed.iter().cloned());
        let error = Arguments::try_parse_from(all).expect_err(line);
        let (path, command) = typed_command(&typed);
        message(&error, &path, &command)
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
        assert_eq!(
            message_for("survey --quik"),
            "unknown option `--quik`; did you mean `--quick`?"
        );
        assert_eq!(message_for("lst"), "unknown command `lst`; did you mean `list`?");
        let shells = "unknown shell `csh`; expected one of bash, elvish, fish, powershell, zsh";
        assert_eq!(message_for("completions csh"), shells);
    }

    #[test]
    fn an_option_of_another_program_gets_the_one_with_the_same_meaning() {
        for option in ["--buffersize", "--size"] {
            let words = format!("unknown option `{option}`; did you mean `--buffer`?");
            assert_eq!(message_for(&format!("plan -m pipe {option} 64")), words);
        }
        let limits =
            "unknown option `--max`; did you mean one of `--max-repetitions`, `--max-time`?";
        assert_eq!(message_for("run -m pipe --max 3"), limits);
    }

    #[test]
    fn an_option_of_another_command_is_said_to_be_one() {
        let percentiles = "unknown option `--percentiles`; it is an option of `ipcperf show`";
        assert_eq!(message_for("run -m pipe --percentiles"), percentiles);
        let quick = message_for("run -m pipe --quick");
        assert!(
            quick.contains("`ipcperf survey`, ") && quick.contains("`ipcperf study run`"),
            "{quick}"
        );
        let inner = "unknown option `--percentiles`; did you mean `ipcperf show --percentiles`?";
        assert_eq!(message_for("--percentiles"), inner);
    }

    #[test]
    fn a_study_before_the_results_gets_its_option() {
        assert_eq!(
            message_for("study judge pipe-or-socket x.jsonl"),
            "unexpected argument `x.jsonl`; to name the study: ipcperf study judge --study NAME FILE"
        );
        assert_eq!(message_for("machine x"), "unexpected argument `x`");
    }

    #[test]
    fn what_is_missing_is_named_with_what_needs_it() {
        assert_eq!(message_for("show"), "missing argument: <FILE>...");
        assert_eq!(message_for("run -b 64"), "missing argument: --mechanism <NAMES>");
        assert_eq!(message_for("run -m pipe --total"), "a value is missing: --total <BYTES>");
        assert!(message_for("study").starts_with("ipcperf study needs a command: list, show"));
        for command in ["show", "plan", "run"] {
            assert_eq!(
                message_for(&format!("study {command}")),
                "missing argument: <NAME|FILE>; to list the bundled studies: ipcperf study list"
            );
        }
    }

    #[test]
    fn a_negative_value_is_told_what_it_is_taken_for() {
        let negative = |value: &str| message_for(&format!("run -m pipe -b {value}"));
        assert_eq!(negative("-1"), "unknown option `-1`; a value cannot be negative");
        // The parser takes the first digit for an option with a value.
        assert_eq!(negative("-64KiB"), "unknown option `-6`; a value cannot be negative");
    }

    #[test]
    fn what_does_not_fit_is_repeated() {
        let number = "--repetitions takes a whole number, not `many`";
        assert_eq!(message_for("run -m pipe --repetitions many"), number);
        assert_eq!(
            message_for("run -m pipe --timeout soon"),
            "invalid value `soon` of --timeout: a duration is a number with a unit (ns, us, ms, s, min, h), such as \
             500ms, or a number of seconds"
        );
        let negative = "--seed takes a whole number, 0 or more, not `-1`";
        assert_eq!(message_for("run -m pipe --seed -1"), negative);
        for (line, words) in [
            ("--repetitions -3", "--repetitions must be at least 1, not `-3`"),
            ("--attempts -1", "--attempts must be at least 1, not `-1`"),
            ("--max-repetitions -1", "--max-repetitions must be at least 10, not `-1`"),
            (
                "--repetitions 4294967296",
                "--repetitions must be at most 4294967295, not `4294967296`",
            ),
        ] {
            assert_eq!(message_for(&format!("run -m pipe {line}")), words);
        }
        let both = message_for("run -m pipe --until-ci 2 --repetitions 3");
        assert!(both.contains("cannot be combined with"), "{both}");
    }

    #[test]
    fn an_option_that_takes_one_value_can_only_be_given_once() {
        for option in ["--total 64", "--profile-event cycles", "--seed 1"] {
            let name = flag(option);
            let words = format!("{name} can only be given once");
            assert_eq!(message_for(&format!("run -m pipe {option} {option}")), words);
        }
    }

    #[test]
    fn a_value_is_named_by_its_option_or_its_placeholder() {
        assert_eq!(unknown_value("<SHELL>", "x"), "unknown shell `x`");
        assert_eq!(unknown_value("--form <FORM>", "x"), "unknown value `x` of --form");
    }

    #[test]
    fn an_argument_that_is_not_utf_8_is_reported_on_one_line() {
        let words = [OsStr::new("ipcperf"), OsStr::new("run"), OsStr::from_bytes(b"--seed=\xff")];
        let error = Arguments::try_parse_from(words).expect_err("an error");
        let words = "invalid UTF-8 was detected in one or more arguments";
        assert_eq!(message(&error, "ipcperf run", &Arguments::command()), words);
    }
}
