//! Which kind of line a line of a results file is.

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The first line once more: another copy of the file begins.
    Header,
    Sample,
    Observation,
    Failure,
    Footer,
    /// One that cannot be read.
    Bad,
}
