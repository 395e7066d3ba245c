//! Export of samples as CSV, with one row for each run.

use std::io::{self, Write};

use ipcperf_results::Sample;
use ipcperf_results::analysis::Summarised;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Exporter, sheet};

/// Samples as CSV.
pub(super) const EXPORTER: Exporter = Exporter {
    name: "csv-runs",
    about: "samples as a sheet: a row for each run, those set aside included",
    details: "As `csv`, but with what each single run yielded: the raw repetitions. Runs that do not \
              count say why in `set_aside`; leave them out by its being empty. All keys of a sample \
              are columns but the histogram of round trips and the slices of the warm-up.",
    write,
    #[cfg(test)]
    check: tests::check,
};

/// Keys that are long and not single numbers.
const LEFT_OUT: [&str; 2] = ["round_trip_histogram", "warm_up_slices_ns"];

/// A sample with the file that contains it.
#[derive(Serialize, JsonSchema)]
struct Row<'a> {
    /// The results file.
    file: String,
    #[serde(flatten)]
    sample: &'a Sample,
}

fn write(files: &[Summarised], out: &mut dyn Write) -> io::Result<()> {
    let keys = files.iter().flat_map(|file| &file.results.samples);
    let keys = keys.flat_map(|sample| sample.roles.keys());
    let rows = files.iter().flat_map(|file| {
        let row = |sample| Row { file: file.path.display().to_string(), sample };
        file.results.samples.iter().map(row)
    });
    sheet::write::<Row>(&keys.map(str::to_owned).collect(), &LEFT_OUT, rows, out)
}

#[cfg(test)]
mod tests {
    use ipcperf_results::Sample;
    use ipcperf_results::analysis::Summarised;

    use crate::export::tests::{Sheet, assert_harmless};

    /// Checks each number of a sheet against its sample.
    pub(in crate::export) fn check(text: &str, files: &[Summarised]) {
        let sheet = Sheet::read(text);
        assert_harmless(&sheet);
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
