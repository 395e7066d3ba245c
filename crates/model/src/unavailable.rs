//! Reason why something is unavailable on a machine, and the remedy.

/// Reason why something is unavailable here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} ({remedy})")]
pub struct Unavailable {
    /// Missing item, in one line.
    pub reason: String,
    /// Remedy, in one line.
    pub remedy: String,
}
