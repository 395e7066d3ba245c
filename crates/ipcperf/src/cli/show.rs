//! `ipcperf show`.

use ipcperf_engine::channel::OptionValues;
use ipcperf_engine::mechanism::find;
use ipcperf_results::analysis::{AnalyzedFile, observed_cases, probe_effects};
use ipcperf_results::{CaseIdentity, Header, Strictness};

use super::arguments::{ShowArguments, ShownColumn};
use crate::cli::results_input::read_files;
use crate::error::{Error, ExitStatus};
use crate::printing::{print, print_with};
use ipcperf_report::export::JSON;
use ipcperf_report::presentation::{StudyContext, stored_study, study_tables as study_tables_of};
use ipcperf_report::terminal::{
    LimitShares, Note, TableView, closing_lines, columns, notes, observed_text, percentiles_text,
    probe_effect_table, study_tables_text, survey_text, tables, unfinished_note, verdicts_text,
    wrap,
};
use ipcperf_report::{ErrorBar, start_time_text};
use ipcperf_study::hypothesis::judge;

/// Parts of a page that are shown on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestedParts {
    limit_shares: LimitShares,
    percentiles: Percentiles,
}

/// Whether a page has tables of percentiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Percentiles {
    Shown,
    Hidden,
}

impl RequestedParts {
    /// No part.
    pub(super) const NONE: Self =
        Self { limit_shares: LimitShares::Hidden, percentiles: Percentiles::Hidden };

    fn new(arguments: &ShowArguments) -> Self {
        Self {
            limit_shares: match arguments.show {
                Some(ShownColumn::Limits) => LimitShares::Shown,
                None => LimitShares::Hidden,
            },
            percentiles: if arguments.percentiles {
                Percentiles::Shown
            } else {
                Percentiles::Hidden
            },
        }
    }
}

pub(super) fn show(arguments: &ShowArguments) -> Result<ExitStatus, Error> {
    let strictness = if arguments.strict { Strictness::Strict } else { Strictness::Lenient };
    let files = read_files(&arguments.files, strictness)?;
    let shown = match arguments.json {
        true => print_with(|out| (JSON.write)(&files, out)),
        false => {
            let parts = RequestedParts::new(arguments);
            let pages = files.iter().map(|file| complete_page(file, parts));
            print(&pages.collect::<Vec<_>>().join("\n\n"))
        }
    };
    // A large file takes millions of allocations; the kernel frees them faster at exit than we can.
    std::mem::forget(files);
    shown
}

/// Returns the complete page about a file, with all parts.
#[cfg(test)]
pub(crate) fn full_page(file: &AnalyzedFile) -> String {
    let parts =
        RequestedParts { limit_shares: LimitShares::Shown, percentiles: Percentiles::Shown };
    complete_page(file, parts)
}

/// Returns the page about a file, with the failures and conclusions, and with `parts`.
fn complete_page(file: &AnalyzedFile, parts: RequestedParts) -> String {
    let results = &file.results;
    let header = &results.header;
    let heading = format!("{}\n{}", file.path.display(), heading(header));
    let closing = closing_lines(&header.plan, results.failures.iter());
    let mut page = page(heading, file, parts);
    for text in [verdicts(file), study_tables(file)].into_iter().flatten() {
        page += &format!("\n\n{text}");
    }
    if closing.is_empty() {
        page
    } else {
        format!("{page}\n\n{}", wrap(&closing.join("\n"), columns()))
    }
}

/// Returns the verdicts of the study that `file` was measured for; `None` if there is no study or it cannot be read.
pub(super) fn verdicts(file: &AnalyzedFile) -> Option<String> {
    let study = stored_study(file)?;
    Some(verdicts_text(&judge(&study, &file.results), columns()))
}

/// Returns the tables of the study that `file` was measured for; `None` if there are none.
pub(super) fn study_tables(file: &AnalyzedFile) -> Option<String> {
    let files = std::slice::from_ref(file);
    let asked = StudyContext::from_files(files, None)?;
    let tables = study_tables_of(&asked.study, files);
    (!tables.is_empty()).then(|| study_tables_text(&tables, columns()))
}

/// Returns the description of the machine, the date, and a quick survey's limitations.
pub(super) fn heading(header: &Header) -> String {
    let machine = header.environment.summary_line();
    let quick =
        if header.quick { " Quick measurement: fewer sizes, at most ten repetitions." } else { "" };
    format!("{machine}\nMeasured {}.{quick}", start_time_text(&header.started))
}

/// Returns the size of the kernel's buffer that a case requests, by an option or by `--kernel-buffer`, bytes. `None` for
/// mechanisms without an option in bytes: the kernel always grants sockets twice the request, and other sizes are fixed,
/// so that a difference from the request means nothing.
fn requested_buffer_bytes(case: &CaseIdentity) -> Option<u64> {
    let mechanism = find(&case.mechanism.as_str().into())?;
    let mut options = mechanism.options.iter();
    if !options.any(|option| matches!(option.values, OptionValues::Bytes)) {
        return None;
    }
    let by_option = mechanism.requested_buffer_bytes(&case.options);
    by_option.or(case.kernel_buffer_requested_bytes)
}

/// Returns the heading, the tables, the findings as sentences and the notes on data quality, with the requested parts.
pub(super) fn page(heading: String, file: &AnalyzedFile, requested: RequestedParts) -> String {
    let (summaries, results) = (&file.summaries, &file.results);
    let (samples, precision) = (&results.samples, results.header.plan.until_ci);
    let columns = columns();
    let view = TableView {
        error_bar: precision.map_or(ErrorBar::Iqr, |_| ErrorBar::ConfidenceInterval),
        limit_shares: requested.limit_shares,
        requested_buffer_bytes,
        columns,
    };
    let mut parts = vec![heading, tables(summaries, &view)];
    if requested.percentiles == Percentiles::Shown {
        parts.push(percentiles_text(summaries, samples, columns));
    }
    parts.push(survey_text(summaries));
    parts.extend(unfinished_note(results));
    parts.extend(notes(summaries, samples, precision).iter().map(Note::to_string));
    parts.extend([
        probe_effect_table(&probe_effects(samples), columns),
        observed_text(&observed_cases(results), columns),
    ]);
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    wrap(&parts.join("\n\n"), columns)
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;
    use ipcperf_results::testing::{header, sample};

    use super::*;

    #[test]
    fn a_request_is_that_of_the_option_or_of_the_kernel_buffer_but_not_of_a_socket() {
        let requested = |mechanism: &str, capacity: Option<&str>| {
            let mut case = sample(mechanism, WorkloadKind::Stream, 64, 1, 1_000).run.case;
            case.kernel_buffer = "match".to_owned();
            case.kernel_buffer_requested_bytes = Some(65_536);
            let option = capacity.map(|bytes| ("capacity".to_owned(), bytes.to_owned()));
            case.options.extend(option);
            requested_buffer_bytes(&case)
        };
        assert_eq!(requested("pipe", None), Some(65_536));
        assert_eq!(requested("pipe", Some("5120")), Some(5_120));
        for mechanism in ["unix-stream", "tcp", "pty", "no-such"] {
            assert_eq!(requested(mechanism, None), None, "{mechanism}");
        }
    }

    #[test]
    fn the_heading_has_the_date() {
        let mut header = header(Vec::new(), Vec::new());
        let machine = header.environment.summary_line();
        assert_eq!(heading(&header), format!("{machine}\nMeasured 2026-11-20 10:00:00Z."));
        header.quick = true;
        assert!(
            heading(&header)
                .ends_with("Z. Quick measurement: fewer sizes, at most ten repetitions.")
        );
    }
}
