//! The bundled studies. Each is a file in `studies/` and an entry in [`STUDIES`].

use crate::Study;

/// Name and text of each bundled study. The name equals the `name` key of the file.
pub const STUDIES: &[(&str, &str)] = &[
    ("pipe-or-socket", include_str!("../../../studies/pipe-or-socket.toml")),
    ("spin-or-sleep", include_str!("../../../studies/spin-or-sleep.toml")),
    ("bell-thomas-2020", include_str!("../../../studies/bell-thomas-2020.toml")),
    ("westerfeld-2014", include_str!("../../../studies/westerfeld-2014.toml")),
    ("shuldman-2015", include_str!("../../../studies/shuldman-2015.toml")),
    ("iacob-2022", include_str!("../../../studies/iacob-2022.toml")),
    ("wright", include_str!("../../../studies/wright.toml")),
];

/// Name and title of each bundled study: the `name` and `title` keys of the files in [`STUDIES`]. Lists show them, and
/// parsing the files would take longer than printing the list.
const TITLES: &[(&str, &str)] = &[
    ("pipe-or-socket", "Pipe or socket?"),
    ("spin-or-sleep", "Spin or sleep, and for how long, at a message rate"),
    (
        "bell-thomas-2020",
        "Bandwidth of pipes and sockets by buffer size, and the probe effect of instruments",
    ),
    ("westerfeld-2014", "Round trips through a bus and through a pipe, by message size"),
    ("shuldman-2015", "Passing state in a datagram, or in a file whose descriptor is passed"),
    ("iacob-2022", "Borrowing pages in a pipe"),
    ("wright", "Throughput of pipe, Unix socket and TCP on many machines"),
];

impl Study {
    /// Returns the name and the title of each bundled study, in the order of [`STUDIES`], without parsing a file.
    #[must_use]
    pub const fn bundled_titles() -> &'static [(&'static str, &'static str)] {
        TITLES
    }
}

/// Returns the text of the bundled study `name`.
pub(crate) fn find_bundled(name: &str) -> Option<&'static str> {
    STUDIES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::{STUDIES, find_bundled};
    use crate::{InstrumentFigure, Study, StudyFigure, StudyTable};

    /// Readers of a publication look up claims, figures and tables by the numbers used there.
    struct Wanted {
        study: &'static str,
        claims: &'static [&'static str],
        figures: &'static [&'static str],
        tables: &'static [&'static str],
    }

    const WANTED: &[Wanted] = &[
        Wanted {
            study: "spin-or-sleep",
            claims: &["H1", "H2", "H3", "H4", "H5", "H6"],
            figures: &[],
            tables: &[],
        },
        Wanted {
            study: "bell-thomas-2020",
            claims: &["H1", "H2", "H3", "O1", "O2", "O3"],
            figures: &["1", "1-calls", "2a", "2b", "2c", "2d", "3a", "3a-slowdown", "3b"],
            tables: &["granted", "ratio"],
        },
        Wanted {
            study: "westerfeld-2014",
            claims: &["H1", "H2", "H3", "H4"],
            figures: &["full-bus", "bare", "profiles"],
            tables: &[
                "1-single",
                "1-dual",
                "1-single-broker",
                "1-dual-broker",
                "2-single",
                "2-dual",
                "2-single-fresh",
                "2-dual-fresh",
                "2-echoed",
                "socketpair",
                "8KiB",
            ],
        },
        Wanted {
            study: "shuldman-2015",
            claims: &["H1", "H2", "H3", "H4a", "H4b", "H4c"],
            figures: &[],
            tables: &["1", "sendmsg", "calls", "rates"],
        },
        Wanted {
            study: "iacob-2022",
            claims: &["H1", "H1-light", "H2a", "H2a-loads", "H2b", "H2-always", "H3", "H3-shape"],
            figures: &[
                "1",
                "1-p-default",
                "1-p-always",
                "2",
                "3",
                "3-p",
                "4",
                "5",
                "6",
                "7",
                "8",
                "9",
                "10",
                "11",
                "12",
                "switches",
                "capacity",
                "touching",
                "functions",
            ],
            tables: &["fall", "fall-touch"],
        },
        Wanted {
            study: "wright",
            claims: &["H0", "H1", "H2", "H3", "H4a", "H4b", "H5", "H5-receiver"],
            figures: &["1", "2", "3", "3-shares"],
            tables: &["1", "benchmark-1", "benchmark-2"],
        },
    ];

    #[test]
    fn the_titles_for_lists_are_those_of_the_files() {
        let parsed = STUDIES.iter().map(|(name, text)| {
            let study = Study::parse(text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
            assert_eq!(study.name, *name);
            (study.name, study.title)
        });
        let listed = Study::bundled_titles().iter();
        let listed = listed.map(|(name, title)| ((*name).to_owned(), (*title).to_owned()));
        assert_eq!(listed.collect::<Vec<_>>(), parsed.collect::<Vec<_>>());
    }

    #[test]
    fn each_document_has_its_claims_figures_and_tables() {
        for wanted in WANTED {
            let text = find_bundled(wanted.study).unwrap_or_else(|| panic!("{}", wanted.study));
            let study = Study::parse(text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
            let claims: Vec<&str> = study.hypotheses.iter().map(|one| one.id.as_str()).collect();
            let figures = study.figures.iter().map(StudyFigure::number);
            let figures =
                figures.chain(study.instrument_figures.iter().map(InstrumentFigure::number));
            let of_claims = study.hypotheses.iter().filter_map(|one| one.figure_number());
            let figures: Vec<&str> = figures.chain(of_claims).collect();
            let tables: Vec<&str> = study.tables.iter().map(StudyTable::number).collect();
            let sides =
                [(wanted.claims, claims), (wanted.figures, figures), (wanted.tables, tables)];
            for (wanted_names, has) in sides {
                let missing = wanted_names.iter().find(|name| !has.contains(name));
                assert_eq!(missing, None, "{}: {has:?}", wanted.study);
            }
        }
    }
}
