//! How much of a study is measured.

/// How much of a study is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// All of it.
    Full,
    /// Every second level of long factors, at most ten repetitions, shorter counts.
    Quick,
    /// All of it, with the counts of the publication where these would take hours.
    AsPublished,
}

impl Length {
    /// The key of a matrix under which stands what is otherwise at this length.
    pub(super) const fn key(self) -> Option<&'static str> {
        match self {
            Self::Full => None,
            Self::Quick => Some("quick"),
            Self::AsPublished => Some("as_published"),
        }
    }
}
