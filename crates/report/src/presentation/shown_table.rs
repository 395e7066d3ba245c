//! A table of a study, filled.

/// A table, ready to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownTable {
    /// Number and title.
    pub caption: String,
    /// What stands above the names of the rows, and above each column.
    pub head: Vec<String>,
    /// The name of each row, its machine where there are several, and its cells.
    pub rows: Vec<Vec<String>>,
    /// What to see, what is missing, what is set aside.
    pub notes: Vec<String>,
}
