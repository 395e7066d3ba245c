//! Percentiles of single round trips: a table for each placement, mode and workload with answers.

use comfy_table::CellAlignment;
use ipcperf_model::round_trip_histogram::{pool, quantile};
use ipcperf_model::units;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_results::Sample;
use ipcperf_results::analysis::{CaseSummary, ValidSamples};

use super::cells::{new_table, truncate};
use super::width::wrap;
use crate::wording::{Heading, by_heading};

/// Explanation below the tables.
pub const PERCENTILES_LEGEND: &str = "p50 to p99.9: percentiles of the round trips of all valid repetitions together; a dash: fewer \
    than ten of them were slower than this percentile, so that single trips would decide it: measure more (--total, \
    --repetitions). max: longest round trip";
/// Text if no case has round trips.
const NONE: &str = "Percentiles: none; only round trips and requests have them. Those of paced \
    traffic are in its tables.";

/// Percentiles of the cases under one heading.
#[derive(Clone, Debug)]
pub struct PercentileTable {
    /// Description of the figures and of the cases.
    pub heading: String,
    /// Cells of each row, in the order of [`Self::HEADER`].
    pub rows: Vec<[String; Self::HEADER.len()]>,
}

impl PercentileTable {
    /// Headings of the columns.
    pub const HEADER: [&str; 7] = ["mechanism", "buffer", "p50", "p90", "p99", "p99.9", "max"];

    /// Creates the table of `cases`, which belong under `heading`.
    fn new<'a>(heading: &Heading, cases: &[&'a CaseSummary], valid: &ValidSamples<'a>) -> Self {
        let what = match heading.workload() {
            WorkloadKind::RequestReply => "Request-reply",
            WorkloadKind::Server => "Server: request-reply",
            WorkloadKind::PairsRoundTrip => "Pairs: round trip",
            _ => "Round trip",
        };
        let row = |case: &&'a CaseSummary| {
            let [p50, p90, p99, p999, max] = percentiles(valid.of_case(case)).map(cell);
            let size = case.case.size_text();
            [truncate(case.series()), size, p50, p90, p99, p999, max]
        };
        Self {
            heading: format!("{what}: percentiles of single trips, {}", heading.configuration()),
            rows: cases.iter().map(row).collect(),
        }
    }

    fn text(&self, columns: usize) -> String {
        let mut table = new_table(columns);
        table.set_header(Self::HEADER);
        table.add_rows(&self.rows);
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        format!("{}\n{table}", wrap(&self.heading, columns))
    }
}

/// Returns the percentiles of the round trips of all `summaries` by heading. `samples` are those that were summarized.
pub fn percentile_tables(summaries: &[CaseSummary], samples: &[Sample]) -> Vec<PercentileTable> {
    let valid = ValidSamples::new(samples);
    let all = by_heading(summaries).into_iter();
    let answered =
        all.filter(|(heading, _)| heading.workload().is_answered() && !heading.is_paced());
    answered.map(|(heading, cases)| PercentileTable::new(&heading, &cases, &valid)).collect()
}

/// Formats the percentiles of the round trips of all `summaries`, at most `columns` wide.
pub fn percentiles_text(summaries: &[CaseSummary], samples: &[Sample], columns: usize) -> String {
    let tables = percentile_tables(summaries, samples);
    let legend = if tables.is_empty() { NONE } else { PERCENTILES_LEGEND };
    let tables = tables.iter().map(|table| table.text(columns));
    tables.chain([wrap(legend, columns)]).collect::<Vec<_>>().join("\n\n")
}

/// Returns p50, p90, p99, p99.9 and the maximum of the round trips of `samples` together, ns. A value is `None` if it is
/// unknown, or if too few trips were slower.
fn percentiles(samples: &[&Sample]) -> [Option<f64>; 5] {
    let histograms = samples.iter().map(|sample| sample.round_trip_histogram.as_deref());
    let histograms: Option<Vec<&str>> = histograms.collect();
    // A damaged histogram is one that is missing.
    let counts = histograms.and_then(|all| pool(all).ok()).unwrap_or_default();
    let [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map(|q| quantile(&counts, q));
    [p50, p90, p99, p999, longest(samples)]
}

/// Returns the longest round trip of `samples`, ns.
#[allow(clippy::cast_precision_loss, reason = "a time, good to 53 bits")]
fn longest(samples: &[&Sample]) -> Option<f64> {
    samples.iter().filter_map(|sample| sample.round_trip_ns_max).max().map(|ns| ns as f64)
}

fn cell(ns: Option<f64>) -> String {
    ns.map_or_else(|| "-".to_owned(), units::time)
}

#[cfg(test)]
mod tests {
    use std::ops::RangeInclusive;

    use ipcperf_results::ExclusionReason;
    use ipcperf_results::analysis::summarize;
    use ipcperf_results::testing::{round_trips, sample};

    use super::*;

    /// Returns samples of one case with the round trips of `trips_us`, us; in block k, each takes k times as long. Block 4
    /// is disturbed.
    fn planted(workload: WorkloadKind, trips_us: RangeInclusive<u64>) -> Vec<Sample> {
        let scripted = |block: u32| {
            let mut sample = sample("pipe", workload, 64, block, 1_000_000);
            let times_ns: Vec<u64> =
                trips_us.clone().map(|us| us * 1_000 * u64::from(block)).collect();
            sample.round_trip_ns_max = times_ns.iter().max().copied();
            sample.round_trip_histogram = Some(round_trips(&times_ns).latencies.histogram);
            sample.excluded = (block == 4).then_some(ExclusionReason::Disturbed);
            sample
        };
        (1..=4).map(scripted).collect()
    }

    fn tables_of(samples: &[Sample], columns: usize) -> String {
        let case = samples[0].run.case.case_id.clone();
        percentiles_text(&summarize(&[case], &[], samples, &[], None), samples, columns)
    }

    #[test]
    fn a_case_has_its_percentiles_with_units_and_without_disturbed_runs() {
        let text = tables_of(&planted(WorkloadKind::RoundTrip, 1..=1_000), 80);
        let row = text.lines().find(|line| line.starts_with(" pipe")).expect("a row");
        let words: Vec<&str> = row.split_whitespace().collect();
        // Of the 3,000 valid trips, 1 to 3,000 us long, three are the slowest thousandth.
        let wanted = "pipe 64 B 819 µs 2.10 ms 2.91 ms - 3.00 ms";
        assert_eq!(words.join(" "), wanted, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn a_stream_has_no_percentiles() {
        let text = tables_of(&planted(WorkloadKind::Stream, 1..=1), 100);
        assert_eq!(text, wrap(NONE, 100));
    }

    #[test]
    fn an_unknown_percentile_is_absent_and_not_zero() {
        let mut samples = planted(WorkloadKind::RequestReply, 1..=1_000);
        samples[1].round_trip_histogram = None;
        let text = tables_of(&samples, 100);
        let row = text.lines().find(|line| line.starts_with(" pipe")).expect("a row");
        assert_eq!(row.split_whitespace().nth(3), Some("-"), "{text}");
    }

    #[test]
    fn a_percentile_needs_ten_slower_trips() {
        let counts = |trips: u64| (1..=trips).map(|trip| (trip, 1)).collect::<Vec<_>>();
        assert_eq!(quantile(&counts(1_000), 0.99), Some(990.0));
        assert_eq!(quantile(&counts(999), 0.99), None);
        assert_eq!(quantile(&[], 0.5), None);
    }
}
