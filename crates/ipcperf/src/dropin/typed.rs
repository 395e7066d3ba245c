//! Arguments as the originals' getopt took them: single letters, in clusters, values attached or apart, the last
//! of several the one that counts.

use std::num::NonZeroU64;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::Call;
use super::ended::Ended;

/// A flag without a value; `letter` is one.
pub(super) fn flag(letter: &'static str, help: &'static str) -> Arg {
    Arg::new(letter).short(letter.chars().next()).action(ArgAction::SetTrue).help(help)
}

/// A flag with a value.
pub(super) fn value(letter: &'static str, name: &'static str, help: &'static str) -> Arg {
    Arg::new(letter).short(letter.chars().next()).value_name(name).help(help)
}

/// A flag with a whole number of at least 1.
pub(super) fn count(letter: &'static str, name: &'static str, help: &'static str) -> Arg {
    value(letter, name, help).value_parser(value_parser!(NonZeroU64))
}

/// A whole number of at least 1, by its place.
pub(super) fn amount(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).value_name(name).value_parser(value_parser!(NonZeroU64)).help(help)
}

/// What program `name` takes.
pub(super) fn command(name: &str, usage: &str) -> Command {
    Command::new("program")
        .no_binary_name(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args_override_self(true)
        // The same in every terminal: it stands in a page, too.
        .term_width(100)
        .override_usage(format!("{name} {usage}"))
        .help_template("usage: {usage}\n\n{all-args}")
}

/// How `command` is used.
pub(super) fn usage(mut command: Command) -> String {
    command.render_help().to_string()
}

/// What was typed.
///
/// # Errors
/// How the program is used, with `code`, where it was used wrongly.
pub(super) fn parse(command: Command, call: &Call<'_>, code: u8) -> Result<ArgMatches, Ended> {
    let parsed = command.clone().try_get_matches_from(call.arguments);
    parsed.map_err(|_| Ended::wrong_usage(code, usage(command)))
}

/// The number that was typed after a letter, or in a place, of that name.
pub(super) fn number(typed: &ArgMatches, name: &str) -> Option<u64> {
    typed.get_one::<NonZeroU64>(name).map(|number| number.get())
}

/// Whether `letter` was typed.
pub(super) fn has(typed: &ArgMatches, letter: &str) -> bool {
    typed.get_flag(letter)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn typed(words: &[&str]) -> Result<ArgMatches, Ended> {
        let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
        let command = command("program", "[-Bq] [-b bytes]").args([
            flag("B", "bare"),
            flag("q", "quiet"),
            count("b", "bytes", "how many"),
        ]);
        parse(command, &Call { name: "program", arguments: &arguments }, 64)
    }

    #[test]
    fn letters_come_in_clusters_and_the_last_value_counts() {
        let typed = typed(&["-Bqb512", "-b", "4096", "-B"]).unwrap();
        assert!(has(&typed, "B") && has(&typed, "q"));
        assert_eq!(number(&typed, "b"), Some(4096));
    }

    #[test]
    fn wrong_usage_says_how_it_is_used() {
        for wrong in [&["-b", "0"][..], &["-b", "4k"], &["-b"], &["-x"], &["-b", "-1"], &["more"]] {
            let ended = typed(wrong).unwrap_err();
            assert_eq!(ended.code, 64, "{wrong:?}");
            assert!(
                ended.words.starts_with("usage: program [-Bq] [-b bytes]\n"),
                "{}",
                ended.words
            );
            assert!(ended.words.contains("-b <bytes>"), "{}", ended.words);
        }
    }
}
