//! Export of latency distributions in the text format of HdrHistogram, which its plotters read.
//! <https://hdrhistogram.github.io/HdrHistogram/plotFiles.html>

use std::collections::BTreeMap;
use std::io::{self, Write};

use ipcperf_model::printable::printable;
use ipcperf_model::round_trip_histogram::pool;
use ipcperf_results::Sample;
use ipcperf_results::analysis::{AnalyzedFile, is_disturbed};

use super::Exporter;

/// Latency distributions.
pub(super) const EXPORTER: Exporter = Exporter {
    name: "hgrm",
    about: "latency distributions in microseconds, for the plotters of HdrHistogram",
    details: "The output has one distribution for each case and each kind of latency: round trips, and, of \
        [paced traffic](paced.md), latencies from the schedule and from the send. It pools all valid runs; a case \
        without valid runs has the distribution of its disturbed runs, and the word `disturbed` after the kind. Each \
        distribution begins with a comment line that names the case and the kind (such as `#[pipe/paced/2proc/split/64/\
        rate=10k/s one_way]`), followed by the columns of HdrHistogram: the value in microseconds, the share of values up \
        to it, their number, and 1 / (1 - share).\n\n\
        To plot one distribution, split the output first, for example with \
        `csplit -z -f part. FILE.hgrm '/^#\\[pipe/' '{*}'`.",
    instrument: None,
    write,
    #[cfg(test)]
    check: tests::check,
};

/// A kind of latency, with its histogram in a sample.
type Kind = (&'static str, fn(&Sample) -> Option<&str>);

/// Every kind.
const KINDS: [Kind; 4] = [
    ("round_trip", |sample| sample.round_trip_histogram.as_deref()),
    ("round_trip_from_send", |sample| sample.paced.round_trip_from_send_histogram.as_deref()),
    ("one_way", |sample| sample.paced.one_way_histogram.as_deref()),
    ("one_way_from_send", |sample| sample.paced.one_way_from_send_histogram.as_deref()),
];

fn write(files: &[AnalyzedFile], out: &mut dyn Write) -> io::Result<()> {
    for file in files {
        for ((case, kind), Distribution { histograms, mark }) in distributions(file) {
            // A damaged histogram has no distribution.
            if let Ok(counts) = pool(histograms) {
                writeln!(out, "#[{} {}{mark}]", printable(case), KINDS[kind].0)?;
                write_distribution(&counts, out)?;
            }
        }
    }
    Ok(())
}

/// Histograms of a case and a kind.
#[derive(Debug, Default)]
struct Distribution<'a> {
    histograms: Vec<&'a str>,
    /// Mark after the kind; empty if the runs are valid.
    mark: &'static str,
}

/// Returns the histograms of `file` by case and kind.
fn distributions(file: &AnalyzedFile) -> BTreeMap<(&str, usize), Distribution<'_>> {
    let samples = || file.results.samples.iter();
    let mut all = by_case_and_kind(samples().filter(|sample| sample.excluded.is_none()));
    for (key, disturbed) in by_case_and_kind(samples().filter(|sample| is_disturbed(sample))) {
        all.entry(key).or_insert(Distribution { mark: " disturbed", ..disturbed });
    }
    all
}

fn by_case_and_kind<'a>(
    samples: impl Iterator<Item = &'a Sample>,
) -> BTreeMap<(&'a str, usize), Distribution<'a>> {
    let mut all: BTreeMap<(&str, usize), Distribution<'_>> = BTreeMap::new();
    for sample in samples {
        for (number, (_, histogram)) in KINDS.iter().enumerate() {
            if let Some(text) = histogram(sample) {
                let key = (sample.run.case.case_id.as_str(), number);
                all.entry(key).or_default().histograms.push(text);
            }
        }
    }
    all
}

/// Writes values, ns, in ascending order with their counts.
#[allow(clippy::cast_precision_loss, reason = "times and counts, good to 53 bits")]
fn write_distribution(counts: &[(u64, u64)], out: &mut dyn Write) -> io::Result<()> {
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    writeln!(out, "       Value     Percentile TotalCount 1/(1-Percentile)\n")?;
    let mut below = 0;
    for (value_ns, count) in counts {
        below += count;
        let (value_us, share) = (*value_ns as f64 / 1e3, below as f64 / all as f64);
        write!(out, "{value_us:12.3} {share:2.12} {below:10}")?;
        if below < all {
            write!(out, " {:14.2}", 1.0 / (1.0 - share))?;
        }
        writeln!(out)?;
    }
    let max_us = counts.last().map_or(0.0, |(value, _)| *value as f64 / 1e3);
    writeln!(out, "#[Max     = {max_us:12.3}, Total count    = {all:12}]")
}

#[cfg(test)]
mod tests {
    use ipcperf_results::analysis::AnalyzedFile;

    use super::*;

    /// Checks the number of values of each distribution, and that their shares ascend to 1.
    pub(in crate::export) fn check(text: &str, files: &[AnalyzedFile]) {
        let wanted: Vec<u64> = files
            .iter()
            .flat_map(distributions)
            .map(|(_, one)| pool(one.histograms).unwrap().iter().map(|(_, count)| count).sum())
            .collect();
        let found: Vec<u64> = text
            .lines()
            .filter_map(|line| {
                line.split_once("Total count    =")?.1.trim_matches([' ', ']']).parse().ok()
            })
            .collect();
        assert_eq!(found, wanted);
        let values = text.lines().filter(|line| !line.starts_with('#') && !line.contains("Value"));
        for line in values.filter(|line| !line.is_empty()) {
            let words: Vec<f64> =
                line.split_whitespace().map(|word| word.parse().unwrap()).collect();
            assert!(words[1] > 0.0 && words[1] <= 1.0, "{line}");
        }
    }

    #[test]
    fn a_distribution_has_the_columns_of_its_format() {
        let mut text = Vec::new();
        write_distribution(&[(1_000, 3), (2_500, 1)], &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<String> = text
            .lines()
            .skip(2)
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(lines[..2], ["1.000 0.750000000000 3 4.00", "2.500 1.000000000000 4"]);
    }
}
