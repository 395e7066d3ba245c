//! Layout of a manual in the terminal: a heading, facts with labels, sections of text, and lists of entries.

use ipcperf_report::terminal::paragraph;

/// Indentation below a title.
const INDENT: usize = 2;
/// Space between a label and its text.
const GAP: usize = 2;

/// A manual of limited width.
pub(super) struct ManualPage {
    columns: usize,
    blocks: Vec<String>,
}

impl ManualPage {
    /// Creates the manual of `name`, which `about` describes in a line.
    pub(super) fn new(name: &str, about: &str, columns: usize) -> Self {
        Self { columns, blocks: vec![paragraph(&format!("{name}: "), about, INDENT, columns)] }
    }

    /// Adds facts, each with a label.
    pub(super) fn facts(&mut self, facts: &[(&str, String)]) {
        let width = facts.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        let indent = INDENT + width + GAP;
        let line = |(label, text): &(&str, String)| {
            paragraph(&format!("  {label}"), text, indent, self.columns)
        };
        let lines: Vec<String> = facts.iter().map(line).collect();
        self.blocks.push(lines.join("\n"));
    }

    /// Adds a section of text.
    pub(super) fn section(&mut self, title: &str, text: &str) {
        let body = paragraph("", text, INDENT, self.columns);
        self.blocks.push(format!("{title}\n{body}"));
    }

    /// Adds a section of entries: each a name, with lines of description.
    pub(super) fn entries(
        &mut self,
        title: &str,
        entries: impl Iterator<Item = (String, Vec<String>)>,
    ) {
        let entries: Vec<(String, Vec<String>)> = entries.collect();
        let width = entries.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let indent = INDENT + width + GAP;
        let mut lines = vec![title.to_owned()];
        for (name, description) in &entries {
            let labels =
                std::iter::once(format!("  {name}")).chain(std::iter::repeat(String::new()));
            lines.extend(
                labels
                    .zip(description)
                    .map(|(label, text)| paragraph(&label, text, indent, self.columns)),
            );
        }
        self.blocks.push(lines.join("\n"));
    }

    /// Returns the manual as text, its parts separated by blank lines.
    pub(super) fn into_text(self) -> String {
        self.blocks.join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stand_before_their_text_and_parts_are_apart() {
        let mut page = ManualPage::new("pipe", "unnamed pipe", 40);
        page.facts(&[("modes", "2proc".to_owned()), ("available", "yes".to_owned())]);
        page.section("How it works", "The kernel keeps a ring of pages for each of the pipes.");
        page.entries(
            "Options",
            [("wait".to_owned(), vec!["values: block, poll".to_owned()])].into_iter(),
        );
        let wanted = "pipe: unnamed pipe\n\n  modes      2proc\n  available  yes\n\nHow it works\n  The kernel keeps a \
            ring of pages for\n  each of the pipes.\n\nOptions\n  wait  values: block, poll";
        assert_eq!(page.into_text(), wanted);
    }
}
