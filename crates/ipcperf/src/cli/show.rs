//! `ipcperf show`.

use super::arguments::ShowArguments;
use super::study;
use crate::error::{Ending, Error};
use crate::exhibit::{Asked, study_tables as study_tables_of};
use crate::export::JSON;
use crate::output::{
    Beside, closing_words, columns, fit, notes, observed_text, print, print_with, probe_table,
    study_tables_text, survey_words, tables, unfinished,
};
use crate::results::{Header, Strictness};
use crate::summary::{Summarised, observed, probe_effects};

pub(super) fn show(arguments: &ShowArguments) -> Result<Ending, Error> {
    let strictness = if arguments.strict { Strictness::Strict } else { Strictness::Lenient };
    let files = Summarised::read_all(&arguments.files, strictness)?;
    let shown = match arguments.json {
        true => print_with(|out| (JSON.write)(&files, out)),
        false => print(&files.iter().map(whole_page).collect::<Vec<_>>().join("\n\n")),
    };
    // A large file is millions of pieces of memory: the system takes them back sooner than we.
    std::mem::forget(files);
    shown
}

/// All that is shown of a file.
pub(crate) fn whole_page(file: &Summarised) -> String {
    let results = &file.results;
    let header = &results.header;
    let heading = format!("{}, {}\n{}", file.path.display(), header.started, heading(header));
    let closing = closing_words(&header.plan, results.failures.iter());
    let mut page = page(heading, file);
    for text in [study::verdicts(file), study_tables(file)].into_iter().flatten() {
        page += &format!("\n\n{text}");
    }
    if closing.is_empty() { page } else { format!("{page}\n\n{}", fit(&closing, columns())) }
}

/// The tables of the study that `file` was measured for; `None` where there are none.
pub(super) fn study_tables(file: &Summarised) -> Option<String> {
    let files = std::slice::from_ref(file);
    let asked = Asked::of(files, None)?;
    let tables = study_tables_of(&asked.study, files);
    (!tables.is_empty()).then(|| study_tables_text(&tables))
}

/// The machine, and what a reader must know of how it was measured.
pub(super) fn heading(header: &Header) -> String {
    let machine = header.environment.in_one_line();
    if header.quick {
        return format!("{machine}\nA quick look: fewer sizes, at most ten repetitions.");
    }
    machine
}

/// Heading, tables, the findings in words, and what to know before believing them.
pub(super) fn page(heading: String, file: &Summarised) -> String {
    let (summaries, results) = (&file.summaries, &file.results);
    let (samples, precision) = (&results.samples, results.header.plan.until_ci);
    let beside = if precision.is_some() { Beside::Interval } else { Beside::Spread };
    let columns = columns();
    let mut parts = vec![heading, tables(summaries, beside, columns), survey_words(summaries)];
    parts.extend(unfinished(results));
    parts.extend(notes(summaries, samples, precision));
    parts
        .extend([probe_table(&probe_effects(samples)), observed_text(&observed(results), columns)]);
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    fit(&parts.join("\n\n"), columns)
}
