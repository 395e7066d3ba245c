//! `ipcperf show`.

use ipcperf_results::analysis::{Summarised, observed, probe_effects};
use ipcperf_results::{Header, Strictness};

use super::arguments::ShowArguments;
use crate::cli::stored::read_files;
use crate::error::{Ending, Error};
use crate::printing::{print, print_with};
use ipcperf_report::Beside;
use ipcperf_report::export::JSON;
use ipcperf_report::presentation::{Asked, measured_for, study_tables as study_tables_of};
use ipcperf_report::terminal::{
    Note, closing_lines, columns, fit, notes, observed_text, probe_table, study_tables_text,
    survey_words, tables, unfinished, verdicts_text,
};
use ipcperf_study::hypothesis::judge;

pub(super) fn show(arguments: &ShowArguments) -> Result<Ending, Error> {
    let strictness = if arguments.strict { Strictness::Strict } else { Strictness::Lenient };
    let files = read_files(&arguments.files, strictness)?;
    let shown = match arguments.json {
        true => print_with(|out| (JSON.write)(&files, out)),
        false => print(&files.iter().map(whole_page).collect::<Vec<_>>().join("\n\n")),
    };
    // A large file takes millions of allocations; the kernel frees them faster at exit than we can.
    std::mem::forget(files);
    shown
}

/// Returns the complete page about a file.
pub(crate) fn whole_page(file: &Summarised) -> String {
    let results = &file.results;
    let header = &results.header;
    let heading = format!("{}, {}\n{}", file.path.display(), header.started, heading(header));
    let closing = closing_lines(&header.plan, results.failures.iter());
    let mut page = page(heading, file);
    for text in [verdicts(file), study_tables(file)].into_iter().flatten() {
        page += &format!("\n\n{text}");
    }
    if closing.is_empty() {
        page
    } else {
        format!("{page}\n\n{}", fit(&closing.join("\n"), columns()))
    }
}

/// Returns the verdicts of the study that `file` was measured for; `None` if there is no study or it cannot be read.
pub(super) fn verdicts(file: &Summarised) -> Option<String> {
    let study = measured_for(file)?;
    Some(verdicts_text(&judge(&study, &file.results), columns()))
}

/// Returns the tables of the study that `file` was measured for; `None` if there are none.
pub(super) fn study_tables(file: &Summarised) -> Option<String> {
    let files = std::slice::from_ref(file);
    let asked = Asked::of(files, None)?;
    let tables = study_tables_of(&asked.study, files);
    (!tables.is_empty()).then(|| study_tables_text(&tables, columns()))
}

/// Returns the description of the machine, and of a quick survey's limitations.
pub(super) fn heading(header: &Header) -> String {
    let machine = header.environment.in_one_line();
    if header.quick {
        return format!("{machine}\nA quick look: fewer sizes, at most ten repetitions.");
    }
    machine
}

/// Returns the heading, the tables, the findings as sentences and the notes on data quality.
pub(super) fn page(heading: String, file: &Summarised) -> String {
    let (summaries, results) = (&file.summaries, &file.results);
    let (samples, precision) = (&results.samples, results.header.plan.until_ci);
    let beside = if precision.is_some() { Beside::Interval } else { Beside::Spread };
    let columns = columns();
    let mut parts = vec![heading, tables(summaries, beside, columns), survey_words(summaries)];
    parts.extend(unfinished(results));
    parts.extend(notes(summaries, samples, precision).iter().map(Note::to_string));
    parts.extend([
        probe_table(&probe_effects(samples), columns),
        observed_text(&observed(results), columns),
    ]);
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    fit(&parts.join("\n\n"), columns)
}
