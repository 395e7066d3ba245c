//! Export of results in the formats of other programs: `ipcperf export` and `--export`.
//!
//! An exporter is one file here and one entry in [`EXPORTERS`]. The command, its completions, the list and the page in
//! `docs/` are generated from that list. The file also contains a reader, with which tests check what was written.

mod benchstat;
mod csv;
mod csv_peers;
mod csv_runs;
mod csv_writer;
mod folded;
mod hgrm;
mod json;
mod markdown;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use ipcperf_plan::unknown_word_error;
use ipcperf_results::analysis::AnalyzedFile;

use crate::error::Error;

pub use json::EXPORTER as JSON;

/// An export format.
#[derive(Debug)]
pub struct Exporter {
    /// Canonical name.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Content and usage: one or more paragraphs of Markdown.
    pub details: &'static str,
    /// Name of the instrument whose observations alone are exported; `None` if runs are exported.
    pub instrument: Option<&'static str>,
    /// Writes the files one after another.
    pub write: fn(&[AnalyzedFile], &mut dyn Write) -> io::Result<()>,
    /// Reads the output and checks every number against the source files. There may be no files.
    #[cfg(test)]
    check: fn(&str, &[AnalyzedFile]),
}

impl Exporter {
    /// Describes what `files` lack if this leaves the output empty.
    #[must_use]
    pub fn missing_input(&self, files: &[AnalyzedFile]) -> Option<String> {
        let instrument = self.instrument?;
        let mut observations = files.iter().flat_map(|file| &file.results.observations);
        let is_there = observations.any(|observation| observation.instrument == instrument);
        (!is_there).then(|| {
            format!(
                "the output is empty: {} needs results of the instrument `{instrument}` (ipcperf run --instrument \
                 {instrument})",
                self.name
            )
        })
    }
}

/// Every format, in the order of the documentation.
pub const EXPORTERS: &[&Exporter] = &[
    &csv::EXPORTER,
    &csv_runs::EXPORTER,
    &csv_peers::EXPORTER,
    &json::EXPORTER,
    &markdown::EXPORTER,
    &benchstat::EXPORTER,
    &folded::EXPORTER,
    &hgrm::EXPORTER,
];

/// Returns the exporter called `name`.
///
/// # Errors
/// Fails with a usage error that suggests the nearest name or lists all of them.
pub fn find(name: &str) -> Result<&'static Exporter, Error> {
    let known = EXPORTERS.iter().find(|exporter| exporter.name == name).copied();
    let names = EXPORTERS.iter().map(|exporter| exporter.name);
    known.ok_or_else(|| unknown_word_error("export format", name, names).into())
}
