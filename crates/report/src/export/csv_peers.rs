//! Export of the peers of runs with several as CSV, with one row for each peer of each run.

use std::collections::HashMap;
use std::io::{self, Write};

use ipcperf_results::analysis::AnalyzedFile;
use ipcperf_results::{ExclusionReason, PeerRecord};
use schemars::JsonSchema;
use serde::Serialize;

use super::Exporter;
use super::csv_writer::{self, ColumnKeys};

/// Peers as CSV.
pub(super) const EXPORTER: Exporter = Exporter {
    name: "csv-peers",
    about: "peers: one row per peer of each run with several peers",
    details: "The format is the same as that of [`csv`](#csv), but each row contains the values of one peer of a run \
        with [several peers](peers.md). The column `file` contains the path of the results file. The column `excluded` \
        is empty if the run is valid; otherwise, it contains the reason. The other columns are the keys of a \
        [peer](results.md#lines). Runs with two peers have no rows.",
    instrument: None,
    write,
    #[cfg(test)]
    check: tests::check,
};

/// A peer with the file that contains it.
#[derive(Serialize, JsonSchema)]
struct PeerRow<'a> {
    /// The results file.
    file: String,
    /// Reason why the run is excluded; null if it is valid.
    excluded: Option<ExclusionReason>,
    #[serde(flatten)]
    peer: &'a PeerRecord,
}

fn write(files: &[AnalyzedFile], out: &mut dyn Write) -> io::Result<()> {
    csv_writer::write::<PeerRow>(&ColumnKeys::default(), files.iter().flat_map(rows), out)
}

fn rows(file: &AnalyzedFile) -> impl Iterator<Item = PeerRow<'_>> {
    let runs = file.results.samples.iter();
    let excluded: HashMap<&str, Option<ExclusionReason>> =
        runs.map(|sample| (sample.run.run_id.as_str(), sample.excluded)).collect();
    file.results.peers.iter().map(move |peer| PeerRow {
        file: file.path.display().to_string(),
        excluded: excluded.get(peer.run_id.as_str()).copied().flatten(),
        peer,
    })
}

#[cfg(test)]
mod tests {
    use ipcperf_results::PeerRecord;
    use ipcperf_results::analysis::AnalyzedFile;

    use crate::export::tests::{CsvTable, assert_no_formulas};

    /// Checks each number of a sheet against its peer.
    pub(in crate::export) fn check(text: &str, files: &[AnalyzedFile]) {
        let sheet = CsvTable::read(text);
        assert_no_formulas(&sheet);
        let of_file = |file: &'_ AnalyzedFile| file.results.peers.clone();
        let peers: Vec<PeerRecord> = files.iter().flat_map(of_file).collect();
        assert_eq!(sheet.rows.len(), peers.len());
        for (place, peer) in peers.into_iter().enumerate() {
            sheet.assert_holds(place, &serde_json::to_value(&peer).unwrap(), "");
            assert_eq!(sheet.text(place, "role"), peer.role.name());
        }
    }
}
