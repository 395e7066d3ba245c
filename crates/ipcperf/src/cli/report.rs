//! `ipcperf report`.

use std::ffi::OsStr;
use std::path::Path;

use ipcperf_results::Strictness;
use ipcperf_results::analysis::AnalyzedFile;

use super::arguments::ReportArguments;
use super::export::{check_writable, is_same_file};
use crate::cli::results_input::read_files;
use crate::error::{Error, ExitStatus};
use crate::printing::print;
use ipcperf_report::figure::write_all;
use ipcperf_report::html::Report;
use ipcperf_report::presentation::StudyContext;
use ipcperf_study::Study;

/// Extensions of HTML pages.
const PAGE_EXTENSIONS: [&str; 2] = ["html", "htm"];

pub(super) fn report(arguments: &ReportArguments) -> Result<ExitStatus, Error> {
    let page = &arguments.out;
    if let Some(input) = arguments.files.iter().find(|input| is_same_file(input, page)) {
        let words = "-o would overwrite this input file; choose another path";
        return Err(Error::usage(format!("{}: {words}", input.display())));
    }
    check_page(page)?;
    let files = read_files(&arguments.files, Strictness::Lenient)?;
    let given = arguments.study.as_deref().map(Study::find).transpose()?;
    print(&write(&files, given, page, arguments.figures.as_deref())?)
}

/// Checks that a report can be written to `path`.
///
/// # Errors
/// Returns a usage error if the name is that of a file that is not an HTML page, such as `report.pdf`. Fails if the
/// file cannot be written.
pub(super) fn check_page(path: &Path) -> Result<(), Error> {
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    if extension.is_none_or(|extension| PAGE_EXTENSIONS.iter().any(|known| extension == *known)) {
        return check_writable(path);
    }
    let (page, name) = (path.with_extension("html"), path.display());
    let words = "a report is an HTML page";
    Err(Error::usage(format!("{name}: {words}; name it {}", page.display())))
}

/// Writes the report on `files` to `path`, with the verdicts of the study `given` or of the study stored in the files,
/// and its figures to the folder `figures`. Returns a message with the paths.
///
/// # Errors
/// Fails if one of them cannot be written.
pub(super) fn write(
    files: &[AnalyzedFile],
    given: Option<Study>,
    path: &Path,
    figures: Option<&Path>,
) -> Result<String, Error> {
    let context = StudyContext::from_files(files, given);
    let report = Report::new(files, context.as_ref());
    std::fs::write(path, report.page())
        .map_err(|source| Error::NotWritten { path: path.to_owned(), source })?;
    let mut message = format!("report written to {}", path.display());
    if let Some(folder) = figures {
        let written = write_all(report.charts(), &report.names, folder)?;
        message +=
            &format!("\nfigures written to {}: {} files", folder.display(), written.files.len());
        message.extend(written.missing_formats.map(|lacking| format!("\n{lacking}")));
    }
    Ok(message)
}
