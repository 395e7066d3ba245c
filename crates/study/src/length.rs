//! How much of a study is measured.

/// How much of a study is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// The whole study.
    Full,
    /// A shorter version: every second level of long factors, at most ten repetitions, smaller counts.
    Quick,
    /// The whole study with the message counts of the publication, which may take hours.
    AsPublished,
}

impl Length {
    /// Returns the matrix key whose table overrides values at this length.
    pub(super) const fn key(self) -> Option<&'static str> {
        match self {
            Self::Full => None,
            Self::Quick => Some("quick"),
            Self::AsPublished => Some("as_published"),
        }
    }
}
