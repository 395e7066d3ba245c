//! Export of summaries as JSON, as printed by `--json`.

use std::io::{self, Write};

use ipcperf_model::printable::write_pretty_json;
use ipcperf_results::analysis::{CaseSummary, Summarised};
use schemars::JsonSchema;
use serde::Serialize;

use super::Exporter;

/// Summaries as JSON.
pub const EXPORTER: Exporter = Exporter {
    name: "json",
    about: "summaries as an array of objects",
    details: "An object for each case and class of CPU pair, with the file it is from: what \
              `ipcperf show --json` prints. A figure is an object of its median, its quartiles and \
              the number of kept repetitions.",
    write,
    #[cfg(test)]
    check: tests::check,
};

/// A summary with the file that contains it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Row<'a> {
    /// The results file.
    pub(super) file: String,
    #[serde(flatten)]
    pub(super) summary: &'a CaseSummary,
}

/// Returns the summaries of all files in order.
pub(super) fn rows(files: &[Summarised]) -> impl Iterator<Item = Row<'_>> {
    files.iter().flat_map(|file| {
        let row = |summary| Row { file: file.path.display().to_string(), summary };
        file.summaries.iter().map(row)
    })
}

fn write(files: &[Summarised], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<Row> = rows(files).collect();
    write_pretty_json(&rows, out)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use ipcperf_results::analysis::Summarised;
    use serde_json::Value;

    use super::rows;
    use crate::export::tests::HOSTILE;

    /// Checks each object against its summary.
    pub(in crate::export) fn check(text: &str, files: &[Summarised]) {
        let read: Vec<Value> = serde_json::from_str(text).unwrap();
        let wanted: Vec<Value> =
            rows(files).map(|row| serde_json::to_value(row).unwrap()).collect();
        assert_eq!(read, wanted);
        assert!(read.last().is_none_or(|last| last["file"] == HOSTILE));
    }
}
