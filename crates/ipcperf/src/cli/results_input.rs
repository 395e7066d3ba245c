//! Input of results files.

use std::path::{Path, PathBuf};

use ipcperf_engine::mechanism::find;
use ipcperf_model::printable::printable_line;
use ipcperf_results::analysis::{AnalyzedFile, disambiguate};
use ipcperf_results::{Results, Strictness, read};

use crate::error::Error;
use crate::printing::print_message;

/// Reads the results file at `path` and prints warnings about it.
///
/// # Errors
/// Those of [`read`].
pub(super) fn read_file(path: &Path, strictness: Strictness) -> Result<AnalyzedFile, Error> {
    let mut results = read(path, strictness)?;
    print_warnings(path, &results);
    complete_facts(&mut results);
    Ok(AnalyzedFile::new(path, results))
}

/// Adds what the engine knows about mechanisms to cases for which the file says nothing.
pub(super) fn complete_facts(results: &mut Results) {
    results
        .fill_facts(|case| Some(find(&case.mechanism.as_str().into())?.case_facts(&case.options)));
}

/// Reads several files. If different custom mechanisms have the same name in them, they are renamed.
///
/// # Errors
/// Those of [`read`].
pub(super) fn read_files(
    paths: &[PathBuf],
    strictness: Strictness,
) -> Result<Vec<AnalyzedFile>, Error> {
    let files = paths.iter().map(|path| read_file(path, strictness));
    let mut files = files.collect::<Result<Vec<_>, Error>>()?;
    disambiguate(&mut files);
    Ok(files)
}

fn print_warnings(path: &Path, results: &Results) {
    for warning in results.warnings.iter().chain(&results.end_warnings) {
        let words = format!("ipcperf: warning: {}: {warning}", path.display());
        print_message(&printable_line(&words));
    }
}
