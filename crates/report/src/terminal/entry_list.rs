//! Lists of named entries, one line each: name, description and availability.

use textwrap::core::display_width;

use super::clip::{CutAt, clip};

/// Space between two columns.
const GAP: usize = 2;
/// Minimum width of the descriptions. On a narrower terminal, lines exceed its width.
const MIN_ABOUT_WIDTH: usize = 12;

/// An entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListEntry<'a> {
    /// Name of the entry.
    pub name: &'a str,
    /// Description, of which as many words are shown as fit.
    pub about: &'a str,
    /// Whether the entry can be used on this machine, `yes` or `no`; empty if that is not listed.
    pub availability: &'a str,
}

/// Lists `entries` below `headings`, one for each field of an entry, at most `columns` wide. The last column is left
/// out if its heading is empty.
pub fn entry_list(headings: [&str; 3], entries: &[ListEntry<'_>], columns: usize) -> String {
    let [name, about, availability] = headings;
    let head = ListEntry { name, about, availability };
    let all = || std::iter::once(&head).chain(entries);
    let width = |field: fn(&ListEntry<'_>) -> usize| all().map(field).max().unwrap_or(0);
    let names = width(|entry| display_width(entry.name));
    let last = width(|entry| display_width(entry.availability));
    let taken = names + GAP + if availability.is_empty() { 0 } else { last + GAP };
    let room = columns.saturating_sub(taken).max(MIN_ABOUT_WIDTH);
    let abouts: Vec<String> = all().map(|entry| clip(entry.about, room, CutAt::Word)).collect();
    let about_width = abouts.iter().map(|about| display_width(about)).max().unwrap_or(0);
    let line = |(entry, about): (&ListEntry<'_>, &String)| {
        let (name, availability) = (entry.name, entry.availability);
        let line = format!("{name:names$}  {about:about_width$}  {availability}");
        line.trim_end().to_owned()
    };
    all().zip(&abouts).map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::clip::CUT_MARK;
    use super::*;

    const LONG: &str = "temporary file for each message; its descriptor is sent in a datagram";

    fn entries() -> [ListEntry<'static>; 2] {
        [
            ListEntry { name: "pipe", about: "unnamed pipe", availability: "yes" },
            ListEntry { name: "unix-stream-named", about: LONG, availability: "no" },
        ]
    }

    #[test]
    fn each_entry_is_one_line_with_whole_words_at_every_width() {
        for columns in 40..=120 {
            let text = entry_list(["mechanism", "about", "works"], &entries(), columns);
            assert_eq!(text.lines().count(), 3, "{text}");
            assert!(text.lines().all(|line| display_width(line) <= columns), "{columns}:\n{text}");
            let last = text.lines().last().unwrap();
            let shown = last["unix-stream-named".len()..last.len() - "no".len()].trim();
            let whole = shown.trim_end_matches(CUT_MARK);
            let rest = LONG.strip_prefix(whole).unwrap();
            assert!(rest.is_empty() || rest.starts_with([' ', ';']), "{columns}: {shown}");
        }
    }

    #[test]
    fn columns_are_aligned_and_the_last_can_be_left_out() {
        let text = entry_list(["mechanism", "about", "works"], &entries(), 120);
        let starts = ["works", "yes", "no"].map(|word| {
            text.lines().find_map(|line| line.ends_with(word).then(|| line.len() - word.len()))
        });
        assert!(starts[0].is_some() && starts[0] == starts[1] && starts[1] == starts[2], "{text}");
        let alone = entries().map(|entry| ListEntry { availability: "", ..entry });
        let text = entry_list(["mechanism", "about", ""], &alone, 120);
        assert!(text.lines().all(|line| !line.ends_with(' ')), "{text:?}");
    }
}
