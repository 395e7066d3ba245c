//! Export of summaries as CSV, with one row for each case and CPU distance class.

use std::io::{self, Write};

use ipcperf_results::SCHEDULE_KEYS;
use ipcperf_results::analysis::AnalyzedFile;

use super::Exporter;
use super::csv_writer::{self, ColumnKeys};
use super::json::{SummaryRow, rows};

/// Summaries as CSV.
pub(super) const EXPORTER: Exporter = Exporter {
    name: "csv",
    about: "summaries: one row per case and CPU distance class",
    details: "The output is CSV as defined in RFC 4180, in UTF-8. It has a header row. Commas separate the fields, the \
        decimal separator is a point, and lines end in CR LF.\n\n\
        The columns are the keys of [`json`](#json). The keys of nested objects are joined by `_`, as in \
        `bandwidth_bytes_per_s_median` and `sender_cpu_ns_per_message_q1`. The two ends of `median_interval` (the \
        95 % interval of the median) are in the columns `median_interval_low` and `median_interval_high`.\n\n\
        Some values have a special format:\n\n\
        - A list of numbers or words is in one cell; spaces separate the elements.\n\
        - The cell of `options` contains `name=value` for each option; spaces separate the options.\n\
        - The cell of `modes` contains JSON.\n\
        - If a value is unknown or does not apply, its cell is empty. The columns of [paced traffic](paced.md) \
        exist only if a case has a rate.\n\
        - If a text starts with `=`, `+`, `-`, `@` or `'`, the cell has an additional `'` at the start. Without \
        it, a spreadsheet would interpret some of these texts as formulas.\n\n\
        By default, pandas reads the mechanism name `null` as a missing value. To prevent this, pass \
        `keep_default_na=False, na_values=[\"\"]` to `read_csv`.",
    instrument: None,
    write,
    #[cfg(test)]
    check: tests::check,
};

fn write(files: &[AnalyzedFile], out: &mut dyn Write) -> io::Result<()> {
    let cases = || files.iter().flat_map(|file| &file.summaries);
    let is_paced = cases().any(|case| case.case.rate_per_s.is_some());
    let has_peers = cases().any(|case| case.case.peers.is_some());
    let peers = ["peers", "peer_rates"];
    let optional = SCHEDULE_KEYS.iter().chain(&["paced"]).filter(|_| is_paced);
    let has_prefixes = cases().any(|case| !case.case.prefixes.is_empty());
    let optional = optional.chain(peers.iter().filter(|_| has_peers));
    let has_mixtures = cases().any(|case| case.case.message_sizes.is_some());
    let optional = optional.chain(has_prefixes.then_some(&"prefixes"));
    let optional = optional.chain(has_mixtures.then_some(&"message_sizes"));
    let keys = ColumnKeys {
        roles: cases().flat_map(|case| case.roles.keys()).cloned().collect(),
        optional: optional.map(|key| (*key).to_owned()).collect(),
        omitted: &[],
    };
    csv_writer::write::<SummaryRow>(&keys, rows(files), out)
}

#[cfg(test)]
mod tests {
    use ipcperf_results::analysis::AnalyzedFile;

    use super::rows;
    use crate::export::tests::{CsvTable, HOSTILE, assert_no_formulas};

    /// Checks each number of a sheet against its summary.
    pub(in crate::export) fn check(text: &str, files: &[AnalyzedFile]) {
        let sheet = CsvTable::read(text);
        assert_no_formulas(&sheet);
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
