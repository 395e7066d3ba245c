//! Output options of the edition that prints with libxo: `-j`, and `--libxo` in its three forms
//! ([xo_options(7)](https://man.freebsd.org/xo_options/7)). `--libxo` may appear anywhere and is removed before the
//! other arguments are parsed.

use std::ffi::OsString;

use crate::compat::Invocation;
use crate::compat::program_exit::{EX_USAGE, ProgramExit};

/// Output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Format {
    #[default]
    Text,
    Json,
    Xml,
}

/// Layout of JSON and XML.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Layout {
    /// All on one line.
    #[default]
    Compact,
    /// One line per value, indented by two spaces.
    Pretty,
}

/// Output format and layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) format: Format,
    pub(super) layout: Layout,
}

const FLAG: &str = "--libxo";
/// Known options, with their letters in the brief form.
const OPTIONS: [(&str, char); 4] = [("json", 'J'), ("pretty", 'P'), ("text", 'T'), ("xml", 'X')];

impl Style {
    /// Style of `-j`.
    pub(super) const JSON: Self = Self { format: Format::Json, layout: Layout::Pretty };

    /// Splits the arguments of `call` into the style and the other arguments.
    ///
    /// # Errors
    /// Returns a usage error for unknown options, including options of libxo that are not supported here.
    pub(super) fn extract(call: &Invocation<'_>) -> Result<(Self, Vec<OsString>), ProgramExit> {
        let (mut style, mut others) = (Self::default(), Vec::new());
        let mut words = call.arguments.iter();
        while let Some(word) = words.next() {
            let Some(rest) = word.to_str().and_then(|word| word.strip_prefix(FLAG)) else {
                others.push(word.clone());
                continue;
            };
            let options = match rest {
                "" => words.next().map(|word| word.to_string_lossy().into_owned()),
                _ => Some(rest.strip_prefix('=').unwrap_or(rest).to_owned()),
            };
            let options = options.unwrap_or_default();
            let asked: Result<Vec<&str>, String> = match options.strip_prefix(':') {
                Some(letters) => letters.chars().map(option_by_letter).collect(),
                None => options.split(',').map(option_by_name).collect(),
            };
            let unknown = |option: String| unknown_option(call.name, &option);
            asked.map_err(unknown)?.into_iter().for_each(|word| style.set(word));
        }
        Ok((style, others))
    }

    fn set(&mut self, word: &str) {
        match word {
            "json" => self.format = Format::Json,
            "xml" => self.format = Format::Xml,
            "text" => self.format = Format::Text,
            _ => self.layout = Layout::Pretty,
        }
    }
}

fn option_by_name(word: &str) -> Result<&'static str, String> {
    let found = OPTIONS.iter().find(|(known, _)| *known == word);
    found.map(|(known, _)| *known).ok_or_else(|| word.to_owned())
}

fn option_by_letter(letter: char) -> Result<&'static str, String> {
    let found = OPTIONS.iter().find(|(_, known)| *known == letter);
    found.map(|(word, _)| *word).ok_or_else(|| letter.to_string())
}

fn unknown_option(name: &str, option: &str) -> ProgramExit {
    let known = OPTIONS.map(|(word, letter)| format!("{word} ({letter})")).join(", ");
    let words = format!("{name}: --libxo: no option `{option}` here; the options are {known}");
    ProgramExit { code: EX_USAGE, message: words }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extracted(words: &str) -> Result<(Style, Vec<OsString>), ProgramExit> {
        let arguments: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        Style::extract(&Invocation { name: "ipc", arguments: &arguments })
    }

    #[test]
    fn options_of_libxo_are_taken_out_wherever_they_stand() {
        let compact = Style { format: Format::Json, layout: Layout::Compact };
        for (words, style) in [
            ("-B 2proc", Style::default()),
            ("--libxo json -B 2proc", compact),
            ("-B --libxo=json,pretty 2proc", Style::JSON),
            ("-B 2proc --libxo:JP", Style::JSON),
            ("--libxo=xml -B 2proc", Style { format: Format::Xml, ..compact }),
            ("--libxo=json -B --libxo text 2proc", Style::default()),
        ] {
            let (taken, others) = extracted(words).unwrap();
            assert_eq!(taken, style, "{words}");
            assert_eq!(others, ["-B", "2proc"], "{words}");
        }
    }

    #[test]
    fn what_is_not_here_is_refused_by_its_name() {
        for (words, named) in
            [("--libxo=html 2proc", "`html`"), ("--libxo:W 2proc", "`W`"), ("--libxo", "``")]
        {
            let ended = extracted(words).unwrap_err();
            assert_eq!(ended.code, 64, "{words}");
            assert!(
                ended.message.contains(named) && ended.message.contains("xml (X)"),
                "{}",
                ended.message
            );
        }
    }
}
