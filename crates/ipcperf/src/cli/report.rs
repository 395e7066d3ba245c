//! `ipcperf report`.

use std::path::Path;

use ipcperf_results::Strictness;
use ipcperf_results::analysis::Summarised;

use super::arguments::ReportArguments;
use super::export::{are_one_file, check_writable};
use crate::cli::stored::read_files;
use crate::error::{Ending, Error};
use crate::printing::print;
use ipcperf_report::figure::write_all;
use ipcperf_report::html::Report;
use ipcperf_report::presentation::Asked;
use ipcperf_study::Study;

pub(super) fn report(arguments: &ReportArguments) -> Result<Ending, Error> {
    let page = &arguments.out;
    if let Some(input) = arguments.files.iter().find(|input| are_one_file(input, page)) {
        let words = "-o names a results file that is read: name another";
        return Err(Error::usage(format!("{}: {words}", input.display())));
    }
    check_writable(page)?;
    let files = read_files(&arguments.files, Strictness::Lenient)?;
    let given = arguments.study.as_deref().map(Study::find).transpose()?;
    print(&write(&files, given, page, arguments.figures.as_deref())?)
}

/// Writes the report on `files` to `path`, with the verdicts of the study `given` or of the study stored in the files,
/// and its figures to the folder `figures`. Returns a message with the paths.
///
/// # Errors
/// Fails if one of them cannot be written.
pub(super) fn write(
    files: &[Summarised],
    given: Option<Study>,
    path: &Path,
    figures: Option<&Path>,
) -> Result<String, Error> {
    let asked = Asked::of(files, given);
    let report = Report::on(files, asked.as_ref());
    std::fs::write(path, report.page())
        .map_err(|source| Error::NotWritten { path: path.to_owned(), source })?;
    let mut told = format!("report in {}", path.display());
    if let Some(folder) = figures {
        let written = write_all(report.charts(), &report.names, folder)?;
        told += &format!("\nfigures in {}: {} files", folder.display(), written.files.len());
        told.extend(written.lacking.map(|lacking| format!("\n{lacking}")));
    }
    Ok(told)
}
