//! Kinds of lines in a results file.

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A copy of the first line: another copy of the file begins.
    Header,
    Sample,
    Peer,
    Observation,
    Failure,
    Footer,
    /// A line that cannot be parsed.
    Bad,
}
