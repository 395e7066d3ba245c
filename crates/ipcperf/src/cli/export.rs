//! `ipcperf export`, and `--export` of measuring commands.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use ipcperf_results::Strictness;
use ipcperf_results::analysis::AnalyzedFile;

use super::arguments::ExportArguments;
use crate::cli::form::Form;
use crate::cli::results_input::read_files;
use crate::error::{Error, ExitStatus};
use crate::printing::{print_message, print_with};
use ipcperf_report::export::{Exporter, find};

pub(super) fn export(arguments: &ExportArguments) -> Result<ExitStatus, Error> {
    let exporter = find(&arguments.format)?;
    if let Some(path) = &arguments.output {
        let input = arguments.files.iter().find(|input| is_same_file(input, path));
        if let Some(input) = input {
            let words = "-o would overwrite this input file; choose another path";
            return Err(Error::usage(format!("{}: {words}", input.display())));
        }
    }
    let files = read_files(&arguments.files, Strictness::Lenient)?;
    warn_of_missing_input(exporter, &files);
    match &arguments.output {
        None => print_with(|out| (exporter.write)(&files, out)),
        Some(path) => write(exporter, &files, path).map(|()| ExitStatus::Done),
    }
}

fn warn_of_missing_input(exporter: &Exporter, files: &[AnalyzedFile]) {
    if let Some(words) = exporter.missing_input(files) {
        print_message(&format!("ipcperf: warning: {words}"));
    }
}

/// Whether both paths lead to the same file, which need not exist yet.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    let resolved = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let inside = || {
            Some(fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?.join(path.file_name()?))
        };
        fs::canonicalize(path).ok().or_else(inside)
    };
    one == other || resolved(one).is_some_and(|one| resolved(other) == Some(one))
}

fn write(exporter: &Exporter, files: &[AnalyzedFile], path: &Path) -> Result<(), Error> {
    let unwritten = |source| Error::NotWritten { path: path.to_owned(), source };
    let mut out = BufWriter::new(File::create(path).map_err(unwritten)?);
    (exporter.write)(files, &mut out).and_then(|()| out.flush()).map_err(unwritten)
}

/// Parsed `--export` flags, checked before anything is measured.
#[derive(Debug)]
pub(super) struct Exports(Vec<Export>);

#[derive(Debug)]
struct Export {
    exporter: &'static Exporter,
    path: PathBuf,
}

impl Export {
    fn parse(text: &str) -> Result<Self, Error> {
        let syntax_error = || Error::usage(format!("--export takes FORMAT=PATH, not `{text}`"));
        let (format, path) = text.split_once('=').ok_or_else(syntax_error)?;
        let exporter = find(format)?;
        if path.is_empty() {
            return Err(syntax_error());
        }
        Ok(Self { exporter, path: PathBuf::from(path) })
    }

    fn path_error(&self, words: &str) -> Error {
        Error::usage(format!("{}: {words}", self.path.display()))
    }
}

impl Exports {
    /// Parses each `FORMAT=PATH` of `texts`; results are written to `results`, or to a new file.
    ///
    /// # Errors
    /// Returns a usage error for a wrong syntax, an unknown format or a path that is in use. Also fails if a path
    /// cannot be written.
    pub(super) fn parse(texts: &[String], results: Option<&Path>) -> Result<Self, Error> {
        let mut exports: Vec<Export> = Vec::new();
        for text in texts {
            let export = Export::parse(text)?;
            if results.is_some_and(|results| is_same_file(&export.path, results)) {
                return Err(export
                    .path_error("--export would overwrite the results file; choose another path"));
            }
            if exports.iter().any(|other| is_same_file(&other.path, &export.path)) {
                return Err(export.path_error(
                    "two --export options name this file; choose another path for one of them",
                ));
            }
            check_writable(&export.path)?;
            exports.push(export);
        }
        Ok(Self(exports))
    }

    /// Writes all exports and prints their paths. If one fails, the others are still written.
    ///
    /// # Errors
    /// Returns the first error.
    pub(super) fn write(&self, measured: &AnalyzedFile, form: Form) -> Result<(), Error> {
        let mut all = Ok(());
        for Export { exporter, path } in &self.0 {
            let files = std::slice::from_ref(measured);
            warn_of_missing_input(exporter, files);
            let written = write(exporter, files, path);
            if written.is_ok() {
                form.print_message(&format!("{} written to {}", exporter.name, path.display()));
            }
            all = all.and(written);
        }
        all
    }
}

/// Checks that `path` can be written, by opening it, which is the only reliable test. Existing content is kept, and a
/// file created by the test is removed. Special files, such as pipes, are not opened.
pub(super) fn check_writable(path: &Path) -> Result<(), Error> {
    let unwritten = |source| Error::NotWritten { path: path.to_owned(), source };
    let before = fs::metadata(path).ok();
    if before.as_ref().is_some_and(|found| !found.is_file() && !found.is_dir()) {
        return Ok(());
    }
    OpenOptions::new().append(true).create(true).open(path).map_err(unwritten)?;
    if before.is_none() {
        fs::remove_file(path).map_err(unwritten)?;
    }
    Ok(())
}
