//! The studies that come with the program: each is a file in `studies/` and a line here.

/// Each with its name, which is also the one in its file.
pub(crate) const STUDIES: &[(&str, &str)] = &[
    ("pipe-or-socket", include_str!("../../../../studies/pipe-or-socket.toml")),
    ("bell-thomas-2020", include_str!("../../../../studies/bell-thomas-2020.toml")),
    ("westerfeld-2014", include_str!("../../../../studies/westerfeld-2014.toml")),
    ("shuldman-2015", include_str!("../../../../studies/shuldman-2015.toml")),
    ("iacob-2022", include_str!("../../../../studies/iacob-2022.toml")),
    ("wright", include_str!("../../../../studies/wright.toml")),
];

/// The text of the study called `name`.
pub(crate) fn known(name: &str) -> Option<&'static str> {
    STUDIES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
