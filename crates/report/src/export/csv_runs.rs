//! Samples as a sheet: one row for each run.

use std::io::{self, Write};

use ipcperf_results::Sample;
use ipcperf_results::analysis::Summarised;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Exporter, sheet};

/// Samples as a sheet.
pub(super) const EXPORTER: Exporter = Exporter {
    name: "csv-runs",
    about: "samples as a sheet: a row for each run, those set aside included",
    details: "As `csv`, but with what each single run yielded: the raw repetitions. Runs that do not \
              count say why in `set_aside`; leave them out by its being empty. All keys of a sample \
              are columns but the histogram of round trips and the slices of the warm-up.",
    write,
};

/// What is no single figure, and long.
const LEFT_OUT: [&str; 2] = ["round_trip_histogram", "warm_up_slices_ns"];

/// A sample and the file it is from.
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
