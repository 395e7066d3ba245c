//! Instructions for repeating the measurement.

use ipcperf_results::Header;
use ipcperf_results::analysis::AnalyzedFile;
use maud::{Markup, html};

use super::lettered;

pub(super) fn section(files: &[AnalyzedFile]) -> Markup {
    html! {
        @for (file, letter) in lettered(files) {
            @if let Some(letter) = letter { h3 { (letter) } }
            (file_section(file))
        }
        p {
            "The results file contains every run, with the requested and the granted settings. To read it, use "
            code { "ipcperf show FILE" } " or " code { "ipcperf export csv FILE" } ". docs/method.md describes the \
                method, and docs/reading-the-report.md describes this report."
        }
    }
}

fn file_section(file: &AnalyzedFile) -> Markup {
    let header = &file.results.header;
    let program = &header.environment.program;
    let commit = program.commit.as_ref().map_or_else(String::new, |c| format!(", commit {c}"));
    html! {
        p { "With ipcperf " (program.version) (commit) ":" }
        pre { code { (command(header)) } }
        p {
            "The order of the runs is determined by seed " (header.seed)
            @if header.plan.until_ci.is_none() && header.plan.until_decided.is_none() {
                "; " (header.plan.repetitions) " valid repetitions of each of " (header.plan.cases.len()) " cases \
                    were requested"
            } "."
        }
    }
}

/// Returns the command as it can be typed again, with the seed of the run.
fn command(header: &Header) -> String {
    let mut words: Vec<String> = vec!["ipcperf".to_owned()];
    words.extend(header.command.iter().map(|word| shell_quote(word)));
    let takes_seed = header.command.first().is_some_and(|command| command == "run");
    let has_seed = header.command.iter().any(|word| word.starts_with("--seed"));
    if takes_seed && !has_seed {
        words.push(format!("--seed {}", header.seed));
    }
    words.join(" ")
}

/// Quotes a word for a shell.
fn shell_quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%*".contains(c);
    let globs = word.contains('*');
    if !word.is_empty() && !globs && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_take_them_apart() {
        assert_eq!(shell_quote("--set"), "--set");
        assert_eq!(shell_quote("1kB..100MB*10"), "'1kB..100MB*10'");
        assert_eq!(shell_quote("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(shell_quote(""), "''");
    }
}
