//! `ipcperf report`.

use std::path::Path;

use super::arguments::ReportArguments;
use crate::error::{Ending, Error};
use crate::figure::write_all;
use crate::output::tell;
use crate::report::Report;
use crate::summary::Summarised;

pub(super) fn report(arguments: &ReportArguments) -> Result<Ending, Error> {
    keep_apart(&arguments.out, &arguments.files)?;
    let files = arguments.files.iter().map(|path| Summarised::read(path));
    let files = files.collect::<Result<Vec<_>, Error>>()?;
    write(&files, &arguments.out, arguments.figures.as_deref())
}

/// Writes the report on `files` to `path` and its figures to a folder of their own, and tells so.
///
/// # Errors
/// That one of them cannot be written.
pub(super) fn write(
    files: &[Summarised],
    path: &Path,
    figures: Option<&Path>,
) -> Result<Ending, Error> {
    let report = Report::on(files);
    std::fs::write(path, report.page())
        .map_err(|source| Error::NotWritten { path: path.to_owned(), source })?;
    tell(&format!("report: {}", path.display()));
    if let Some(folder) = figures {
        let written = write_all(&report.charts, &report.names, folder)?;
        tell(&format!("figures: {} files in {}", written.files.len(), folder.display()));
        if let Some(lacking) = written.lacking {
            tell(&format!("ipcperf: {lacking}"));
        }
    }
    Ok(Ending::Done)
}

/// That a page can be put at `path`, before there is one: nobody should wait a minute for nothing.
///
/// # Errors
/// Usage where there is no folder for it.
pub(super) fn permits(path: &Path) -> Result<(), Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(Error::usage(format!(
            "no folder {} for the report: make it, or name another",
            folder.display()
        ))),
        _ => Ok(()),
    }
}

/// A results file must not be lost to the report on it.
pub(super) fn keep_apart(out: &Path, files: &[std::path::PathBuf]) -> Result<(), Error> {
    let same = |file: &Path| match (file.canonicalize(), out.canonicalize()) {
        (Ok(file), Ok(out)) => file == out,
        _ => false,
    };
    match files.iter().find(|file| same(file)) {
        Some(file) => Err(Error::usage(format!(
            "{} is a results file that is to be read: name another file with -o",
            file.display()
        ))),
        None => Ok(()),
    }
}
