//! Results in the formats of other programs: `ipcperf export` and `--export`.
//!
//! An exporter is one file here and one line in [`EXPORTERS`]. The command, its completions, the list
//! and the page in `docs/` come from that list. The file also has the way back, with which tests read what
//! was written.

mod benchstat;
mod csv;
mod csv_runs;
mod folded;
mod json;
mod markdown;
mod sheet;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use crate::error::Error;
use ipcperf_plan::unknown;
use ipcperf_results::analysis::Summarised;

pub use json::EXPORTER as JSON;

/// One format.
#[derive(Debug)]
pub struct Exporter {
    /// Canonical name.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// What stands in it, and how it is read: a paragraph or more of Markdown.
    pub details: &'static str,
    /// Writes the files, one below the other.
    pub write: fn(&[Summarised], &mut dyn Write) -> io::Result<()>,
    /// Reads what it wrote, and holds every number against the files that it was made from, which may have none.
    #[cfg(test)]
    check: fn(&str, &[Summarised]),
}

/// Every format, in the order of the documentation.
pub const EXPORTERS: &[&Exporter] = &[
    &csv::EXPORTER,
    &csv_runs::EXPORTER,
    &json::EXPORTER,
    &markdown::EXPORTER,
    &benchstat::EXPORTER,
    &folded::EXPORTER,
];

/// The exporter called `name`.
///
/// # Errors
/// Usage, with the nearest name or all of them.
pub fn find(name: &str) -> Result<&'static Exporter, Error> {
    let known = EXPORTERS.iter().find(|exporter| exporter.name == name).copied();
    let names = EXPORTERS.iter().map(|exporter| exporter.name);
    known.ok_or_else(|| unknown("export format", name, names).into())
}
