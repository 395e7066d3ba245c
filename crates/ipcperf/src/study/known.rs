//! The studies that come with the program: each is a file in `studies/` and a line here.

/// Each with its name, which is also the one in its file.
pub(crate) const STUDIES: &[(&str, &str)] =
    &[("pipe-or-socket", include_str!("../../../../studies/pipe-or-socket.toml"))];

/// The text of the study called `name`.
pub(crate) fn known(name: &str) -> Option<&'static str> {
    STUDIES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
