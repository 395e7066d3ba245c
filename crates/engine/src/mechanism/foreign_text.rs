//! Text from programs and libraries that are not part of ipcperf.

/// Maximum length of a text taken from a program or library, characters.
const MAX_TEXT_CHARS: usize = 200;

/// Cleans untrusted text so that it fits on one line.
pub(super) fn sanitize(text: &str) -> String {
    let spaced = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.trim().chars().map(spaced).take(MAX_TEXT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_one_line_of_limited_length() {
        assert_eq!(sanitize(" a\nb\u{1b}[31m "), "a b [31m");
        assert_eq!(sanitize(&"x".repeat(1_000)).len(), MAX_TEXT_CHARS);
    }
}
