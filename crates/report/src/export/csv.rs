//! Export of summaries as CSV, with one row for each case and CPU distance class.

use std::io::{self, Write};

use ipcperf_results::analysis::Summarised;

use super::json::{Row, rows};
use super::{Exporter, sheet};

/// Summaries as CSV.
pub(super) const EXPORTER: Exporter = Exporter {
    name: "csv",
    about: "summaries as a sheet: a row for each case and class of CPU pair",
    details: "RFC 4180: commas, a row of names first, decimal points, UTF-8, lines ending in CR LF. \
              The columns are the keys of `json`, with those of nested objects joined by `_`, as in \
              `bandwidth_bytes_per_s_median` and `sender_cpu_ns_per_message_q1`; `median_interval` \
              is `_low` and `_high`. Lists of numbers stand in one cell, separated by spaces, \
              `options` as `name=value`, modes as JSON. What is not known is an empty cell. A text \
              that a spreadsheet would take for a formula has a `'` before it. pandas takes the name of \
              the mechanism `null` for nothing, unless it is told \
              `keep_default_na=False, na_values=[\"\"]`.",
    write,
    #[cfg(test)]
    check: tests::check,
};

fn write(files: &[Summarised], out: &mut dyn Write) -> io::Result<()> {
    let roles = files.iter().flat_map(|file| &file.summaries).flat_map(|case| case.roles.keys());
    sheet::write::<Row>(&roles.cloned().collect(), &[], rows(files), out)
}

#[cfg(test)]
mod tests {
    use ipcperf_results::analysis::Summarised;

    use super::rows;
    use crate::export::tests::{HOSTILE, Sheet, assert_harmless};

    /// Checks each number of a sheet against its summary.
    pub(in crate::export) fn check(text: &str, files: &[Summarised]) {
        let sheet = Sheet::read(text);
        assert_harmless(&sheet);
        let rows: Vec<_> = rows(files).collect();
        assert_eq!(sheet.rows.len(), rows.len());
        for (place, row) in rows.iter().enumerate() {
            sheet.assert_holds(place, &serde_json::to_value(row).unwrap(), "");
            let ends = row.summary.median_interval;
            let read =
                ["median_interval_low", "median_interval_high"].map(|c| sheet.number(place, c));
            assert_eq!(read, ends.map_or([None; 2], |ends| ends.map(Some)));
            if let Some(options) = row.summary.case.options.get("address") {
                assert_eq!(sheet.text(place, "options"), format!("address={options}"));
            }
        }
        if let Some(last) = sheet.rows.len().checked_sub(1) {
            assert_eq!(sheet.text(last, "refused"), HOSTILE);
        }
    }
}
