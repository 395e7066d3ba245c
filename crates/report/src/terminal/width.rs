//! Width of the output, and wrapping of text.

use rustix::termios::tcgetwinsize;
use textwrap::{Options, WordSplitter};

/// Maximum width of tables and text on a terminal, and the width if neither the terminal nor `COLUMNS` specifies one.
/// Longer lines are hard to read, and do not fit into mails and issues.
const MAX_COLUMNS: usize = 100;
/// Minimum width. Values do not fit in less; the terminal wraps longer lines.
const MIN_COLUMNS: usize = 40;
/// Indentation of continuation lines.
const INDENT: usize = 2;

/// Returns the width for tables and text: that of the terminal, at most [`MAX_COLUMNS`], or else the one that the
/// variable `COLUMNS` asks for.
pub fn columns() -> usize {
    let terminal = terminal_columns().map(|columns| columns.min(MAX_COLUMNS));
    terminal.or_else(columns_from_environment).unwrap_or(MAX_COLUMNS).max(MIN_COLUMNS)
}

fn terminal_columns() -> Option<usize> {
    let size = tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

fn columns_from_environment() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok()?;
    columns.trim().parse().ok().filter(|&columns| columns > 0)
}

/// Wraps each line of `text` that is wider than `columns`. Continuation lines are indented a little further.
pub fn wrap(text: &str, columns: usize) -> String {
    let lines = text.lines().flat_map(|line| wrap_line(line, columns));
    lines.collect::<Vec<_>>().join("\n")
}

/// Wraps `text` to `columns` as a paragraph that is indented by `indent`. `label` is in the indentation of its first
/// line.
pub fn paragraph(label: &str, text: &str, indent: usize, columns: usize) -> String {
    let first = format!("{label:indent$}");
    let further = " ".repeat(indent);
    let options = Options::new(columns)
        .initial_indent(&first)
        .subsequent_indent(&further)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).join("\n")
}

fn wrap_line(line: &str, columns: usize) -> Vec<String> {
    if textwrap::core::display_width(line) <= columns {
        return vec![line.to_owned()];
    }
    let words = line.trim_start();
    let indent = " ".repeat(line.len() - words.len());
    let further = " ".repeat(indent.len() + INDENT);
    let options = Options::new(columns)
        .initial_indent(&indent)
        .subsequent_indent(&further)
        // Names of cases and mechanisms are not broken, so that they can be copied.
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(words, options).into_iter().map(std::borrow::Cow::into_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_left_as_it_is() {
        let text = "one\n\n  two  three \nfour";
        assert_eq!(wrap(text, 40), text);
    }

    #[test]
    fn a_long_line_goes_on_further_in() {
        let text = "  unix-dgram carries at most 212960 bytes a message";
        let fitted = "  unix-dgram carries at most 212960\n    bytes a message";
        assert_eq!(wrap(text, 40), fitted);
    }

    #[test]
    fn a_paragraph_hangs_below_its_label() {
        let text = paragraph("  modes", "1thread, 2thread, 2proc", 10, 30);
        assert_eq!(text, "  modes   1thread, 2thread,\n          2proc");
    }

    #[test]
    fn a_word_that_is_too_long_is_broken() {
        let path = "/results".repeat(12);
        let lines = wrap(&path, 40);
        assert!(lines.lines().all(|line| line.len() <= 40), "{lines}");
        assert_eq!(lines.replace("\n  ", ""), path);
    }
}
