//! `ipcperf man`: the manual page of all commands, generated from their definitions.

use std::io;

use clap::CommandFactory as _;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::arguments::{Arguments, WITHOUT_COMMAND};
use crate::error::{EXIT_CODES, Error, ExitStatus};
use crate::printing::print_with;

const DESCRIPTION: &str = "ipcperf measures all mechanisms of local inter-process communication on one machine with \
    one harness, so that they can be compared. It measures every case (one mechanism at one message size, with one set \
    of options) once per block, in random order, and repeats the block. Each run is a fresh process. A run that other \
    activity on the machine disturbed is excluded and retried. Every result is stored in a results file (JSON Lines), \
    from which tables, reports and exports are made.";

/// Examples of frequent tasks.
const EXAMPLES: [(&str, &str); 9] = [
    ("ipcperf", "survey this machine: nine common mechanisms, about a minute"),
    ("ipcperf run -m pipe,unix-stream -b 512..16MiB", "measure bandwidth by buffer size"),
    ("ipcperf run -m all -w round-trip -b 64 --placement split", "measure round trips on two CPUs"),
    ("ipcperf run -m pipe --set pipe.capacity=4KiB..1MiB", "measure each value of an option"),
    (
        "ipcperf run -m pipe -b 64KiB --until-ci 2",
        "repeat until the half-width of the 95 % confidence interval of the median is at most 2 % of the median",
    ),
    ("ipcperf plan -m all -b 64..1MiB", "print the cases and the estimated time; measure nothing"),
    ("ipcperf export csv survey.jsonl -o survey.csv", "convert results to CSV, for a spreadsheet"),
    ("ipcperf study run pipe-or-socket", "measure a study and judge its hypotheses"),
    ("ipcperf resume survey.jsonl", "continue an interrupted measurement"),
];

const FILES: [(&str, &str); 1] = [(
    "~/.local/share/ipcperf/",
    "Results files of commands without --out. If XDG_DATA_HOME is set, they go to $XDG_DATA_HOME/ipcperf/ instead.",
)];

const ENVIRONMENT: [(&str, &str); 1] = [(
    "COLUMNS",
    "Maximum width of tables if standard output is not a terminal. The default is 100, which is also the maximum on a \
     terminal.",
)];

/// Manual pages of the measured mechanisms and of related topics.
const SEE_ALSO: [&str; 7] =
    ["pipe(7)", "unix(7)", "tcp(7)", "udp(7)", "shm_overview(7)", "sched(7)", "perf(1)"];

pub(super) fn man() -> Result<ExitStatus, Error> {
    print_with(|out| out.write_all(&page()?))
}

fn page() -> io::Result<Vec<u8>> {
    let mut all = Arguments::command();
    all.build();
    let mut page = Vec::new();
    // An empty date would shift the fields after it.
    let man = Man::new(all.clone()).title("IPCPERF").date(" ").manual("User Commands");
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    synopsis(&all).to_writer(&mut page)?;
    description().to_writer(&mut page)?;
    for command in leaf_commands(&all) {
        describe(command, &mut page)?;
    }
    closing().to_writer(&mut page)?;
    Ok(page)
}

/// Returns every command; a command with subcommands is replaced by these.
fn leaf_commands(all: &clap::Command) -> Vec<&clap::Command> {
    let visible = |one: &&clap::Command| one.get_name() != "help" && !one.is_hide_set();
    all.get_subcommands()
        .flat_map(|command| {
            let within: Vec<_> = command.get_subcommands().filter(visible).collect();
            if within.is_empty() { vec![command] } else { within }
        })
        .collect()
}

fn synopsis(all: &clap::Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]).text([bold(all.get_name())]);
    for command in leaf_commands(all) {
        roff.control("br", []).text(usage(command));
    }
    roff
}

fn description() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["DESCRIPTION"]).text([roman(DESCRIPTION)]);
    roff.control("PP", []).text([roman(WITHOUT_COMMAND)]);
    roff.control("SH", ["COMMANDS"]);
    roff
}

/// Returns the usage line of a command, its name in bold.
fn usage(command: &clap::Command) -> Vec<clap_mangen::roff::Inline> {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").split_whitespace().collect::<Vec<_>>().join(" ");
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let rest = usage.strip_prefix(&name).unwrap_or_default().to_owned();
    vec![bold(name), roman(rest)]
}

/// Describes a command: usage, purpose and arguments.
fn describe(command: &clap::Command, page: &mut Vec<u8>) -> io::Result<()> {
    let mut roff = Roff::new();
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    roff.control("SS", [name]).text(usage(command));
    if let Some(about) = command.get_about() {
        roff.control("PP", []).text([roman(format!("{about}."))]);
    }
    roff.to_writer(page)?;
    let mut options = Vec::new();
    // Headings would become sections of the whole page.
    let command = command.clone().mut_args(|argument| argument.help_heading(None::<&'static str>));
    Man::new(command).render_options_section(&mut options)?;
    // Removes the section heading, which is meant for a separate page.
    let options = String::from_utf8_lossy(&options);
    let (_, options) = options.split_once(".SH OPTIONS\n").unwrap_or_default();
    page.extend_from_slice(options.as_bytes());
    Ok(())
}

/// Returns the sections after the commands.
fn closing() -> Roff {
    let mut roff = Roff::new();
    let codes = EXIT_CODES.map(|(code, meaning)| (code, sentence(meaning)));
    definition_list(
        &mut roff,
        "EXIT STATUS",
        codes.iter().map(|(code, text)| (*code, text.as_str())),
    );
    definition_list(&mut roff, "ENVIRONMENT", ENVIRONMENT.into_iter());
    definition_list(&mut roff, "FILES", FILES.into_iter());
    definition_list(&mut roff, "EXAMPLES", EXAMPLES.into_iter());
    roff.control("SH", ["SEE ALSO"]).text([roman(SEE_ALSO.join(", "))]);
    roff
}

/// Adds a capital letter and a full stop to `words`.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(letters).chain(['.']).collect()
}

fn definition_list<'a>(
    roff: &mut Roff,
    heading: &str,
    entries: impl Iterator<Item = (&'a str, &'a str)>,
) {
    roff.control("SH", [heading]);
    for (name, text) in entries {
        roff.control("TP", []).text([bold(name)]).text([roman(text)]);
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    /// Returns the page as plain text, with roff's escaped hyphens restored.
    fn text() -> String {
        String::from_utf8(page().unwrap()).unwrap().replace("\\-", "-")
    }

    #[test]
    fn every_command_and_every_flag_is_in_the_page() {
        let page = text();
        let mut all = Arguments::command();
        all.build();
        for command in leaf_commands(&all) {
            let heading = format!(".SS \"{}\"", command.get_bin_name().unwrap());
            let (_, section) = page.split_once(&heading).unwrap_or_else(|| panic!("no {heading}"));
            let section = section.split(".SS").next().unwrap();
            let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
            for flag in shown.filter_map(clap::Arg::get_long) {
                assert!(
                    section.contains(&format!("--{flag}")),
                    "{heading}: no --{flag}:\n{section}"
                );
            }
        }
    }

    #[test]
    fn every_example_is_understood() {
        for (example, _) in EXAMPLES {
            let parsed = Arguments::try_parse_from(example.split_whitespace());
            assert!(parsed.is_ok(), "{example}: {parsed:?}");
            assert!(text().contains(example), "{example}");
        }
    }
}
