//! Results files as commands read them.

use std::path::{Path, PathBuf};

use ipcperf_engine::mechanism::find;
use ipcperf_model::printable::printable_line;
use ipcperf_results::analysis::{Summarised, name_apart};
use ipcperf_results::{Results, Strictness, read};

use crate::error::Error;
use crate::printing::tell;

/// Reads the results file at `path`; tells what is not as it should be.
///
/// # Errors
/// As [`read`] has them.
pub(super) fn read_file(path: &Path, strictness: Strictness) -> Result<Summarised, Error> {
    let mut results = read(path, strictness)?;
    tell_warnings(path, &results);
    results.complete_facts(|case| Some(find(&case.mechanism)?.case_facts(&case.options)));
    Ok(Summarised::of(path, results))
}

/// Reads several files, whose custom mechanisms are named apart where one name is of different files.
///
/// # Errors
/// As [`read`] has them.
pub(super) fn read_files(
    paths: &[PathBuf],
    strictness: Strictness,
) -> Result<Vec<Summarised>, Error> {
    let files = paths.iter().map(|path| read_file(path, strictness));
    let mut files = files.collect::<Result<Vec<_>, Error>>()?;
    name_apart(&mut files);
    Ok(files)
}

fn tell_warnings(path: &Path, results: &Results) {
    for warning in results.warnings.iter().chain(&results.end_warnings) {
        let words = format!("ipcperf: warning: {}: {warning}", path.display());
        tell(&printable_line(&words));
    }
}
