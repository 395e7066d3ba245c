//! Arguments in the style of the originals' getopt(3): single letters, in clusters, with values attached or separate.
//! The last of several values counts.

use std::ffi::OsString;
use std::num::NonZeroU64;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::Invocation;
use super::program_exit::ProgramExit;

/// Returns a flag without a value; `letter` is a single letter.
pub(super) fn flag(letter: &'static str, help: &'static str) -> Arg {
    Arg::new(letter).short(letter.chars().next()).action(ArgAction::SetTrue).help(help)
}

/// Returns a flag with a value.
pub(super) fn flag_with_value(letter: &'static str, name: &'static str, help: &'static str) -> Arg {
    Arg::new(letter).short(letter.chars().next()).value_name(name).help(help)
}

/// Returns a flag with a whole number of at least 1, in the syntax of strtol(3).
pub(super) fn positive_flag(letter: &'static str, name: &'static str, help: &'static str) -> Arg {
    flag_with_value(letter, name, help).value_parser(parse_positive)
}

/// Parses `text` like strtol(3), if all of it is a number of at least 1. Leading white space and a plus sign are
/// allowed; a number that is too large becomes the largest possible one.
pub(super) fn parse_positive(text: &str) -> Result<NonZeroU64, String> {
    const LARGEST: u64 = i64::MAX.unsigned_abs();
    let is_blank = |letter: char| letter.is_ascii_whitespace() || letter == '\x0b';
    let unsigned = text.trim_start_matches(is_blank);
    let digits = unsigned.strip_prefix('+').unwrap_or(unsigned);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // It has only digits, so parsing fails only if it is too large.
    let number = if is_number { digits.parse().unwrap_or(LARGEST).min(LARGEST) } else { 0 };
    NonZeroU64::new(number).ok_or_else(|| format!("`{text}` is not a whole number of at least 1"))
}

/// Whether all flags come before the single operand, as getopt(3) of BSD requires: it stops at the first operand.
pub(super) fn is_operand_last(command: &Command, arguments: &[OsString]) -> bool {
    let takes_value = |letter: char| {
        let known = command.get_arguments().find(|known| known.get_short() == Some(letter));
        known.is_some_and(|known| known.get_action().takes_values())
    };
    let mut words = arguments.iter().map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        let Some(cluster) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
            return words.next().is_none();
        };
        // The value is the rest of the cluster or, if that is empty, the next word.
        if cluster.find(takes_value).is_some_and(|at| at + 1 == cluster.len()) {
            words.next();
        }
    }
    true
}

/// Returns a positional argument for a whole number of at least 1.
pub(super) fn positive_operand(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).value_name(name).value_parser(value_parser!(NonZeroU64)).help(help)
}

/// Returns the command-line parser of the program `name`.
pub(super) fn command(name: &str, usage: &str) -> Command {
    Command::new("program")
        .no_binary_name(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args_override_self(true)
        // Fixed width, because the usage text also appears in the documentation.
        .term_width(100)
        .override_usage(format!("{name} {usage}"))
        .help_template("usage: {usage}\n\n{all-args}")
}

/// Returns the usage text of `command`.
pub(super) fn usage(mut command: Command) -> String {
    command.render_help().to_string()
}

/// Parses the arguments of `call`.
///
/// # Errors
/// Returns the usage text, with the exit code `code`, if the usage is wrong.
pub(super) fn parse(
    command: Command,
    call: &Invocation<'_>,
    code: u8,
) -> Result<ArgMatches, ProgramExit> {
    let parsed = command.clone().try_get_matches_from(call.arguments);
    parsed.map_err(|_| ProgramExit::wrong_usage(code, usage(command)))
}

/// Returns the number given for the flag or operand `name`.
pub(super) fn positive_value(typed: &ArgMatches, name: &str) -> Option<u64> {
    typed.get_one::<NonZeroU64>(name).map(|number| number.get())
}

/// Whether the flag `letter` was given.
pub(super) fn has_flag(typed: &ArgMatches, letter: &str) -> bool {
    typed.get_flag(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(words: &[&str]) -> Result<ArgMatches, ProgramExit> {
        let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
        let command = command("program", "[-Bq] [-b bytes]").args([
            flag("B", "bare"),
            flag("q", "quiet"),
            positive_flag("b", "bytes", "how many"),
        ]);
        parse(command, &Invocation { name: "program", arguments: &arguments }, 64)
    }

    #[test]
    fn letters_come_in_clusters_and_the_last_value_counts() {
        let typed = typed(&["-Bqb512", "-b", "4096", "-B"]).unwrap();
        assert!(has_flag(&typed, "B") && has_flag(&typed, "q"));
        assert_eq!(positive_value(&typed, "b"), Some(4096));
    }

    #[test]
    fn numbers_are_those_of_strtol() {
        let of = |text: &str| parse_positive(text).ok().map(NonZeroU64::get);
        for (text, number) in
            [("1", 1), (" \t+4096", 4096), ("007", 7), ("5000000000", 5_000_000_000)]
        {
            assert_eq!(of(text), Some(number), "{text:?}");
        }
        assert_eq!(of("99999999999999999999"), Some(i64::MAX.unsigned_abs()));
        for wrong in ["", " ", "0", "-1", "+", "+ 1", "1 ", "4k", "0x10", "1.5"] {
            assert_eq!(of(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn nothing_may_follow_the_operand() {
        let command = command("program", "[-Bq] [-b bytes] mode").args([
            flag("B", "bare"),
            positive_flag("b", "bytes", "how many"),
            Arg::new("mode"),
        ]);
        let ends = |words: &str| {
            let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
            is_operand_last(&command, &words)
        };
        for fine in
            ["2proc", "-B 2proc", "-b 5 2proc", "-b5 2proc", "-Bb5 2proc", "-Bb 5 2proc", "-B"]
        {
            assert!(ends(fine), "{fine}");
        }
        for wrong in ["2proc -B", "-b 5 2proc -B", "2proc 2proc", "-Bb 5 2proc x"] {
            assert!(!ends(wrong), "{wrong}");
        }
    }

    #[test]
    fn wrong_usage_says_how_it_is_used() {
        for wrong in [&["-b", "0"][..], &["-b", "4k"], &["-b"], &["-x"], &["-b", "-1"], &["more"]] {
            let ended = typed(wrong).unwrap_err();
            assert_eq!(ended.code, 64, "{wrong:?}");
            assert!(
                ended.message.starts_with("usage: program [-Bq] [-b bytes]\n"),
                "{}",
                ended.message
            );
            assert!(ended.message.contains("-b <bytes>"), "{}", ended.message);
        }
    }
}
