//! Results files as plain JSON lines, independent of the reader of the command.

use std::path::Path;

use serde_json::Value;

/// A results file, sorted by kind of line.
#[derive(Debug)]
pub(crate) struct ResultsFile {
    pub(crate) header: Value,
    pub(crate) samples: Vec<Value>,
    pub(crate) failures: Vec<Value>,
    /// Last footer; null if there is none.
    pub(crate) footer: Value,
}

impl ResultsFile {
    /// Reads the complete lines of the file at `path`.
    pub(crate) fn read(path: &Path) -> Self {
        let lines = lines(path);
        let of = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).cloned().collect();
        let footer = lines.iter().rfind(|line| line["kind"] == "footer").cloned();
        Self {
            header: lines[0].clone(),
            samples: of("sample"),
            failures: of("failure"),
            footer: footer.unwrap_or_default(),
        }
    }

    /// Returns the kind of each failure.
    pub(crate) fn failure_kinds(&self) -> Vec<&str> {
        self.failures.iter().map(|failure| text(failure, "what")).collect()
    }
}

/// Returns the complete lines of the file at `path`.
pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("a results file");
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole.map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// Returns the number of runs with a result in the file at `path`; 0 if there is no file.
pub(crate) fn runs_recorded(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.matches("\n{\"kind\":\"sample\"").count() + text.matches("\n{\"kind\":\"failure\"").count()
}

/// Returns an integer field of an object.
pub(crate) fn number(object: &Value, key: &str) -> u64 {
    object[key].as_u64().unwrap_or_else(|| panic!("{key} is no number in {object}"))
}

/// Returns a string field of an object.
pub(crate) fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object[key].as_str().unwrap_or_else(|| panic!("{key} is no text in {object}"))
}
