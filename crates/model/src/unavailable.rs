//! What cannot be had on a machine, and what would help.

/// Why something cannot be had here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} ({remedy})")]
pub struct Unavailable {
    /// What is missing, in a line.
    pub reason: String,
    /// What would help, in a line.
    pub remedy: String,
}
