//! Shortens text to a part of a line.

use ipcperf_model::printable::printable_line;
use textwrap::core::display_width;

/// Mark of text that was cut.
pub(super) const CUT_MARK: &str = "...";

/// Positions at which text may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CutAt {
    /// After any character: for names.
    Character,
    /// Between two words: for sentences.
    Word,
}

/// Returns `text` on one line of at most `width` characters. Names in a file may contain anything, so unsafe
/// characters are replaced.
pub(super) fn clip(text: &str, width: usize, cut_at: CutAt) -> String {
    let text = printable_line(text);
    if display_width(&text) <= width {
        return text.into_owned();
    }
    let (fitting, rest) = split_at_width(&text, width.saturating_sub(CUT_MARK.len()));
    let kept = match cut_at {
        CutAt::Character => fitting,
        CutAt::Word => whole_words(fitting, rest),
    };
    format!("{kept}{CUT_MARK}")
}

/// Splits `text` after the last character that fits in `width`.
fn split_at_width(text: &str, width: usize) -> (&str, &str) {
    let mut used = 0;
    let end = text.char_indices().find(|(_, letter)| {
        used += display_width(letter.encode_utf8(&mut [0; 4]));
        used > width
    });
    text.split_at(end.map_or(text.len(), |(at, _)| at))
}

/// Returns the words of `text` without the last one if that goes on in `rest`. A single word stays in parts.
fn whole_words<'a>(text: &'a str, rest: &str) -> &'a str {
    let words = match text.rfind(' ') {
        Some(end) if !rest.starts_with(' ') => &text[..end],
        _ => text,
    };
    words.trim_end_matches([' ', ',', ';', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_where_the_room_ends() {
        let clip = |text, width| clip(text, width, CutAt::Character);
        assert_eq!(clip("pipe_write", 10), "pipe_write");
        assert_eq!(clip("pipe_write", 9), "pipe_w...");
        assert_eq!(display_width(&clip("一二三四五六", 8)), 7, "a wide character is not split");
        assert_eq!(clip("a\nb", 9).lines().count(), 1);
    }

    #[test]
    fn a_sentence_is_cut_between_words() {
        let clip = |width| clip("unnamed pipe, of one process", width, CutAt::Word);
        assert_eq!(clip(28), "unnamed pipe, of one process");
        assert_eq!(clip(27), "unnamed pipe, of one...");
        assert_eq!(clip(18), "unnamed pipe...");
        assert_eq!(clip(16), "unnamed pipe...");
        assert_eq!(clip(8), "unnam...");
    }
}
