//! Shortens text to a part of a line.

use ipcperf_model::printable::printable_line;
use textwrap::core::display_width;

/// Mark of text that was cut.
const CUT: &str = "...";

/// Returns `text` on one line of at most `width` characters. Names in a file may contain anything, so unsafe
/// characters are replaced.
pub(super) fn clip(text: &str, width: usize) -> String {
    let text = printable_line(text);
    if display_width(&text) <= width {
        return text.into_owned();
    }
    let room = width.saturating_sub(CUT.len());
    let (mut clipped, mut used) = (String::new(), 0);
    for letter in text.chars() {
        used += display_width(letter.encode_utf8(&mut [0; 4]));
        if used > room {
            break;
        }
        clipped.push(letter);
    }
    clipped + CUT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_where_the_room_ends() {
        assert_eq!(clip("pipe_write", 10), "pipe_write");
        assert_eq!(clip("pipe_write", 9), "pipe_w...");
        assert_eq!(display_width(&clip("一二三四五六", 8)), 7, "a wide character is not split");
        assert_eq!(clip("a\nb", 9).lines().count(), 1);
    }
}
