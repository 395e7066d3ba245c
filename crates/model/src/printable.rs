//! Makes untrusted text safe to print. Names in a results file, paths and messages of a library may hold control
//! sequences that a terminal executes, or characters that make the displayed text differ from the actual text.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{Formatter, PrettyFormatter};

/// Characters that terminals execute, that reorder the text around them, or that are invisible: controls (Cc),
/// format characters (Cf), line separators, characters that Unicode lets programs ignore
/// (Default_Ignorable_Code_Point), and noncharacters.
const UNSAFE: [RangeInclusive<char>; 19] = [
    '\0'..='\u{1f}',
    '\u{7f}'..='\u{9f}',
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{3164}'..='\u{3164}',
    '\u{fdd0}'..='\u{fdef}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{1bca0}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];

/// Visible characters, such as musical symbols, between the two blocks of invisible ones in the second-to-last
/// range.
const VISIBLE: RangeInclusive<char> = '\u{1bca4}'..='\u{1d172}';

/// Replacement for an unsafe character.
const REPLACEMENT: char = '\u{fffd}';

/// Whether `letter` must not be printed as it is. A newline is unsafe.
pub fn is_unsafe(letter: char) -> bool {
    let is_listed = || UNSAFE.iter().any(|range| range.contains(&letter));
    let is_noncharacter = || u32::from(letter) & 0xfffe == 0xfffe;
    // Nearly all text is ASCII.
    match letter {
        ' '..='~' => false,
        _ => (is_listed() && !VISIBLE.contains(&letter)) || is_noncharacter(),
    }
}

/// Replaces the unsafe characters of `text` except newlines.
pub fn printable(text: &str) -> Cow<'_, str> {
    replace_unsafe(text, |letter| letter != '\n' && is_unsafe(letter))
}

/// Replaces the unsafe characters of `text`, including newlines.
pub fn printable_line(text: &str) -> Cow<'_, str> {
    replace_unsafe(text, is_unsafe)
}

fn replace_unsafe(text: &str, is_replaced: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_replaced) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if is_replaced(c) { REPLACEMENT } else { c }).collect())
}

/// Formats `value` as indented JSON. Unsafe characters are escaped, so that programs still read the original text.
pub fn pretty_json(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    // Neither step can fail: maps have string keys, and the output is a buffer in memory.
    let _ = write_pretty_json(value, &mut text);
    String::from_utf8(text).unwrap_or_default()
}

/// Writes `value` in the format of [`pretty_json`].
///
/// # Errors
/// Returns the error of writing to `out`.
pub fn write_pretty_json(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(out, EscapingFormatter(PrettyFormatter::new()));
    Ok(value.serialize(&mut serializer)?)
}

/// JSON formatter with indentation that escapes unsafe characters in strings.
struct EscapingFormatter<'a>(PrettyFormatter<'a>);

impl Formatter for EscapingFormatter<'_> {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for part in fragment.split_inclusive(is_unsafe) {
            let end = part.chars().next_back().filter(|last| is_unsafe(*last));
            writer.write_all(&part.as_bytes()[..part.len() - end.map_or(0, char::len_utf8)])?;
            for unit in end.into_iter().flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec()) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        is_first: bool,
    ) -> io::Result<()> {
        self.0.begin_array_value(writer, is_first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        is_first: bool,
    ) -> io::Result<()> {
        self.0.begin_object_key(writer, is_first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_terminal_gets_nothing_but_text() {
        let text = "\u{1f4e6} 3.4 \u{b5}s \u{b1} \u{2500} \u{a0}\u{1d11e}\nnext";
        assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
        for odd in [
            '\u{1b}',
            '\r',
            '\t',
            '\u{7f}',
            '\u{85}',
            '\u{9b}',
            '\0',
            '\u{ad}',
            '\u{61c}',
            '\u{200b}',
            '\u{200e}',
            '\u{200f}',
            '\u{2028}',
            '\u{2029}',
            '\u{202a}',
            '\u{202e}',
            '\u{2060}',
            '\u{2066}',
            '\u{2069}',
            '\u{feff}',
            '\u{fffb}',
            '\u{ffff}',
            '\u{1fffe}',
            '\u{1d173}',
            '\u{e0001}',
            '\u{e0041}',
        ] {
            assert_eq!(printable(&format!("a{odd}b\n")), "a\u{fffd}b\n", "{odd:?}");
        }
        assert_eq!(printable_line("a\nb"), "a\u{fffd}b");
    }

    #[test]
    fn json_is_escaped_and_says_the_same() {
        let value = json!({ "a\u{202e}": ["\u{85}\u{1b}x\u{e0041}\n\"", 1.5, null, {}, []] });
        let text = pretty_json(&value);
        assert!(!text.chars().any(|letter| letter != '\n' && is_unsafe(letter)), "{text}");
        assert!(text.contains("\\udb40\\udc41"), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        let plain = json!({ "a": [1, { "b": "c" }], "d": {} });
        assert_eq!(pretty_json(&plain), format!("{plain:#}"));
    }
}
