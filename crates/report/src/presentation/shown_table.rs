//! A table of a study with its values.

/// A table as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownTable {
    /// Number and title.
    pub caption: String,
    /// Headings: of the row labels, and of each column.
    pub header: Vec<String>,
    /// Rows: label, machine if there are several, and cells.
    pub rows: Vec<Vec<String>>,
    /// Features to look for, missing measurements and excluded runs.
    pub notes: Vec<String>,
}
