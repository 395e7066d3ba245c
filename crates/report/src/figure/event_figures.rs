//! Figures of counted events: one for each event and ratio in the files, over the buffer size.

use std::collections::BTreeSet;
use std::sync::Arc;

use ipcperf_results::analysis::{AnalyzedFile, CountKind, CountedQuantity};

use super::figure_spec::{Band, FigureSpec, Reference, Sizes, Statistic};
use super::quantity::Quantity;

/// Maximum number of figures. A file from elsewhere may have any number of events.
const MAX_FIGURES: usize = 40;
/// Maximum length of a name in links and file names.
const MAX_NAME_CHARS: usize = 60;

/// Returns the figures of everything counted in `files`, sorted by name.
pub fn event_figures(files: &[AnalyzedFile]) -> Vec<FigureSpec> {
    let cases = files.iter().flat_map(|file| &file.summaries);
    let all: BTreeSet<&CountedQuantity> =
        cases.flat_map(|case| &case.counted).map(|counted| &counted.what).collect();
    let lines = all.into_iter().filter(|what| what.kind != CountKind::Share);
    let mut slugs = BTreeSet::new();
    // If two names become the same link, only the first gets a figure.
    let figures = lines.map(figure_spec).filter(|figure| slugs.insert(figure.name.clone()));
    figures.take(MAX_FIGURES).collect()
}

fn figure_spec(what: &CountedQuantity) -> FigureSpec {
    let (name, kind) = (what.name.as_str(), what.kind);
    let (subject, see) = match kind {
        CountKind::PerMessage | CountKind::NsPerMessage => (
            format!("{name} per message by role"),
            "Counted in user space and in the kernel, in separate runs. Where a line rises with the buffer size, the \
             count depends on the number of bytes; where the line is flat, on the number of calls.",
        ),
        CountKind::Ratio | CountKind::Share => (
            format!("{name} by role"),
            "One count divided by another count of the same run. Where the line bends, the bottleneck changes.",
        ),
    };
    FigureSpec {
        name: slug(name).into(),
        subject: subject.into(),
        by: None,
        caption: see,
        workload: None,
        sizes: Sizes::All,
        x: Quantity::BufferBytes,
        y: Quantity::Counter(Arc::from(name), kind),
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
    format!("events-{}", name.chars().take(MAX_NAME_CHARS).map(fit).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_fit_for_links() {
        let what =
            |name: &str| CountedQuantity { name: name.to_owned(), kind: CountKind::PerMessage };
        let figure = figure_spec(&what("cpu/event=0xd0,umask=0x81/"));
        assert_eq!(figure.name, "events-cpu-event-0xd0-umask-0x81-");
        assert!(figure.subject.contains("cpu/event=0xd0,umask=0x81/"));
    }
}
