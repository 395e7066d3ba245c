//! Figures of counted events: one for each event and ratio in the files, over the buffer size.

use std::collections::BTreeSet;
use std::sync::Arc;

use ipcperf_results::analysis::{CountKind, Summarised, What};

use super::description::{Band, Description, Reference, Sizes, Statistic};
use super::quantity::Quantity;

/// Maximum number of figures. A file from elsewhere may have any number of events.
const MOST: usize = 40;
/// Maximum length of a name in links and file names.
const LONGEST_NAME: usize = 60;

/// Returns the figures of everything counted in `files`, sorted by name.
pub fn counted(files: &[Summarised]) -> Vec<Description> {
    let cases = files.iter().flat_map(|file| &file.summaries);
    let all: BTreeSet<&What> =
        cases.flat_map(|case| &case.counted).map(|counted| &counted.what).collect();
    let lines = all.into_iter().filter(|what| what.kind != CountKind::Share);
    let mut slugs = BTreeSet::new();
    // If two names become the same link, only the first gets a figure.
    let figures = lines.map(description).filter(|figure| slugs.insert(figure.name.clone()));
    figures.take(MOST).collect()
}

fn description(what: &What) -> Description {
    let (name, kind) = (what.name.as_str(), what.kind);
    let (title, see) = match kind {
        CountKind::PerMessage | CountKind::NsPerMessage => (
            format!("{name} for each message, by role"),
            "Counted in the program and in the kernel together, of runs of their own. A line that rises with \
             the buffer counts bytes; a flat one counts calls.",
        ),
        CountKind::Ratio | CountKind::Share => (
            format!("{name}, by role"),
            "One count over another of the same run. Where it bends, what bounds the transfer changes.",
        ),
    };
    Description {
        name: slug(name).into(),
        title: title.into(),
        see,
        workload: None,
        sizes: Sizes::All,
        x: Quantity::BufferBytes,
        y: Quantity::Counted(Arc::from(name), kind),
        statistic: Statistic::Median(Band::Quartiles),
        references: &[Reference::Caches],
    }
}

/// Converts a name to a form suitable for links and file names.
fn slug(name: &str) -> String {
    let fit = |letter: char| match letter.to_ascii_lowercase() {
        letter @ ('a'..='z' | '0'..='9') => letter,
        _ => '-',
    };
    format!("counted-{}", name.chars().take(LONGEST_NAME).map(fit).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_fit_for_links() {
        let what = |name: &str| What { name: name.to_owned(), kind: CountKind::PerMessage };
        let figure = description(&what("cpu/event=0xd0,umask=0x81/"));
        assert_eq!(figure.name, "counted-cpu-event-0xd0-umask-0x81-");
        assert!(figure.title.contains("cpu/event=0xd0,umask=0x81/"));
    }
}
