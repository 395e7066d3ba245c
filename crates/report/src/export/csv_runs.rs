//! Export of samples as CSV, with one row for each run.

use std::io::{self, Write};

use ipcperf_results::analysis::AnalyzedFile;
use ipcperf_results::{PEERS_KEYS, SCHEDULE_KEYS, Sample};
use schemars::JsonSchema;
use serde::Serialize;

use super::Exporter;
use super::csv_writer::{self, ColumnKeys};

/// Samples as CSV.
pub(super) const EXPORTER: Exporter = Exporter {
    name: "csv-runs",
    about: "samples: one row per run, including excluded runs",
    details: "The format is the same as that of [`csv`](#csv), but each row contains the values of one run. The \
        column `file` contains the path of the results file. The other columns are the keys of a \
        [sample](results.md#lines), except histograms and `warm_up_slices_ns`. The cell of `excluded` \
        is empty for a valid run. For an excluded run, it contains the reason.",
    instrument: None,
    write,
    #[cfg(test)]
    check: tests::check,
};

/// Keys that are long and not single numbers.
const OMITTED_KEYS: [&str; 6] = [
    "round_trip_histogram",
    "warm_up_slices_ns",
    "one_way_histogram",
    "one_way_from_send_histogram",
    "outside_gaps_histogram",
    "round_trip_from_send_histogram",
];

/// A sample with the file that contains it.
#[derive(Serialize, JsonSchema)]
struct SampleRow<'a> {
    /// The results file.
    file: String,
    #[serde(flatten)]
    sample: &'a Sample,
}

fn write(files: &[AnalyzedFile], out: &mut dyn Write) -> io::Result<()> {
    let samples = || files.iter().flat_map(|file| &file.results.samples);
    let paced = samples().filter(|sample| sample.run.case.rate_per_s.is_some());
    let has_peers = samples().any(|sample| sample.run.case.peers.is_some());
    let peers = PEERS_KEYS.into_iter().filter(|_| has_peers);
    let prefixed = |sample: &Sample| !sample.run.case.prefixes.is_empty();
    let prefixes = samples().any(prefixed).then_some("prefixes");
    let mixed = |sample: &Sample| sample.run.case.message_sizes.is_some();
    let mixtures = samples().any(mixed).then_some("message_sizes");
    let keys = ColumnKeys {
        roles: samples().flat_map(|sample| sample.roles.keys()).map(str::to_owned).collect(),
        optional: paced
            .flat_map(paced_keys)
            .chain(peers.chain(prefixes).chain(mixtures).map(str::to_owned))
            .collect(),
        omitted: &OMITTED_KEYS,
    };
    let rows = files.iter().flat_map(|file| {
        let row = |sample| SampleRow { file: file.path.display().to_string(), sample };
        file.results.samples.iter().map(row)
    });
    csv_writer::write::<SampleRow>(&keys, rows, out)
}

/// Returns the keys that only samples of paced runs have.
fn paced_keys(sample: &Sample) -> impl Iterator<Item = String> {
    let values = serde_json::to_value(&sample.paced).unwrap_or_default();
    let keys = values.as_object().map(|values| values.keys().cloned().collect::<Vec<_>>());
    keys.into_iter().flatten().chain(SCHEDULE_KEYS.map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use ipcperf_results::Sample;
    use ipcperf_results::analysis::AnalyzedFile;

    use crate::export::tests::{CsvTable, assert_no_formulas};

    /// Checks each number of a sheet against its sample.
    pub(in crate::export) fn check(text: &str, files: &[AnalyzedFile]) {
        let sheet = CsvTable::read(text);
        assert_no_formulas(&sheet);
        let samples: Vec<&Sample> = files.iter().flat_map(|file| &file.results.samples).collect();
        assert_eq!(sheet.rows.len(), samples.len());
        for (place, sample) in samples.into_iter().enumerate() {
            let mut object = serde_json::to_value(sample).unwrap();
            object.as_object_mut().unwrap().remove("round_trip_histogram");
            sheet.assert_holds(place, &object, "");
            assert_eq!(sheet.text(place, "cpus"), "0 0");
        }
    }
}
