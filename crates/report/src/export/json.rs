//! Export of summaries as JSON, as printed by `--json`.

use std::io::{self, Write};

use ipcperf_model::printable::write_pretty_json;
use ipcperf_results::analysis::{AnalyzedFile, CaseSummary};
use schemars::JsonSchema;
use serde::Serialize;

use super::Exporter;

/// Summaries as JSON.
pub const EXPORTER: Exporter = Exporter {
    name: "json",
    about: "summaries: an array with one object per case and CPU distance class",
    details: "The output is the same as that of `ipcperf show --json`: an array with one object per case and CPU \
        distance class. In each object, the key `file` is the path of the results file. The value of a metric, such as \
        `bandwidth_bytes_per_s`, is an object with four keys: the median (`median`), the lower and the upper \
        quartile (`q1` and `q3`), and the number of valid repetitions (`n`).",
    instrument: None,
    write,
    #[cfg(test)]
    check: tests::check,
};

/// A summary with the file that contains it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SummaryRow<'a> {
    /// The results file.
    pub(super) file: String,
    #[serde(flatten)]
    pub(super) summary: &'a CaseSummary,
}

/// Returns the summaries of all files in order.
pub(super) fn rows(files: &[AnalyzedFile]) -> impl Iterator<Item = SummaryRow<'_>> {
    files.iter().flat_map(|file| {
        let row = |summary| SummaryRow { file: file.path.display().to_string(), summary };
        file.summaries.iter().map(row)
    })
}

fn write(files: &[AnalyzedFile], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<SummaryRow> = rows(files).collect();
    write_pretty_json(&rows, out)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use ipcperf_results::analysis::AnalyzedFile;
    use serde_json::Value;

    use super::rows;
    use crate::export::tests::HOSTILE;

    /// Checks each object against its summary.
    pub(in crate::export) fn check(text: &str, files: &[AnalyzedFile]) {
        let read: Vec<Value> = serde_json::from_str(text).unwrap();
        let wanted: Vec<Value> =
            rows(files).map(|row| serde_json::to_value(row).unwrap()).collect();
        assert_eq!(read, wanted);
        assert!(read.last().is_none_or(|last| last["file"] == HOSTILE));
    }
}
