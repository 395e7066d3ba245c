//! Tables of paced cases: a row for each mechanism, size and rate.

use ipcperf_model::rate::PerSecond;
use ipcperf_model::size::Bytes;
use ipcperf_model::units;
use ipcperf_results::analysis::{CaseSummary, PacedSummary, Spread};

use crate::wording::{Heading, by_heading};

/// Explanation of the columns, below the tables.
pub const PACED_LEGEND: &str = "carried: messages that arrived, as a share of those scheduled in the same time. p50 to p99.9: \
    latency from the scheduled time of each message (response time). p99 from send: latency from the time at which it was \
    sent (service time), which leaves out the time that messages waited for a slow receiver to take earlier ones. CPU/msg: \
    CPU time of all roles together, without that of waiting for the schedule. All values are medians over the repetitions; \
    a dash means that there were too few messages for this percentile";
/// Explanation of figures that are not reliable.
const DISTURBED: &str = "? other activity disturbed every run: not reliable";
/// Explanation of figures that are too small for the clocks.
const UNCERTAIN: &str = "~ less than twice the uncertainty of the clocks of the two CPUs";

/// Results of the paced cases under one heading.
#[derive(Clone, Debug)]
pub struct PacedTable {
    /// Description of the figures and of the cases.
    pub heading: String,
    /// Cells of each row, in the order of [`Self::HEADER`].
    pub rows: Vec<[String; Self::HEADER.len()]>,
    /// How well the senders kept their schedules.
    pub pacing: Vec<String>,
}

impl PacedTable {
    /// Headings of the columns; the first two are left-aligned.
    pub const HEADER: [&str; 9] = [
        "mechanism",
        "buffer",
        "rate",
        "carried",
        "p50",
        "p99",
        "p99.9",
        "p99 from send",
        "CPU/msg",
    ];

    fn new(heading: &Heading, cases: &[&CaseSummary]) -> Self {
        Self {
            heading: format!("{}, {}", heading.metric_label(), heading.configuration()),
            rows: cases.iter().map(|case| row(case)).collect(),
            pacing: pacing_text(cases),
        }
    }
}

/// Returns the tables of the paced cases of `summaries`.
#[must_use]
pub fn paced_tables(summaries: &[CaseSummary]) -> Vec<PacedTable> {
    let paced = by_heading(summaries).into_iter().filter(|(heading, _)| heading.is_paced());
    paced.map(|(heading, cases)| PacedTable::new(&heading, &cases)).collect()
}

fn row(case: &CaseSummary) -> [String; PacedTable::HEADER.len()] {
    let rate = case.case.rate_per_s.map_or_else(String::new, |rate| PerSecond(rate).to_string());
    let name = [case.series(), Bytes(case.case.buffer_bytes).to_string(), rate];
    let figures = match &case.paced {
        Some(paced) => figures(paced),
        None => {
            let state = if case.failed > 0 { "failed" } else { "no run" };
            [state, "", "", "", "", ""].map(str::to_owned)
        }
    };
    let [name, buffer, rate] = name;
    let [carried, p50, p99, p999, from_send, cpu] = figures;
    [name, buffer, rate, carried, p50, p99, p999, from_send, cpu]
}

fn figures(paced: &PacedSummary) -> [String; 6] {
    let mark = if paced.only_disturbed { "? " } else { "" };
    let uncertain_ns = paced.clock_uncertainty_ns.map_or(0.0, |spread| 2.0 * spread.median);
    let time = |spread: Option<Spread>| match spread.map(|spread| spread.median) {
        None => "-".to_owned(),
        Some(ns) if ns < uncertain_ns => format!("{mark}{} ~", units::time(ns)),
        Some(ns) => format!("{mark}{}", units::time(ns)),
    };
    let carried = paced.carried_share.map_or_else(
        || "-".to_owned(),
        |share| {
            let saturated = if paced.is_saturated() { "\nsaturated" } else { "" };
            format!("{mark}{}{saturated}", units::percent(share.median))
        },
    );
    let cpu = paced.cpu_ns_per_message;
    [
        carried,
        time(paced.latency_ns_p50),
        time(paced.latency_ns_p99),
        time(paced.latency_ns_p999),
        time(paced.from_send_ns_p99),
        cpu.map_or_else(String::new, |spread| units::time(spread.median)),
    ]
}

/// Describes how well the senders of `cases` kept their schedules, and the marks of their figures.
fn pacing_text(cases: &[&CaseSummary]) -> Vec<String> {
    let paced = || cases.iter().filter_map(|case| case.paced.as_ref());
    let gaps = range(paced().filter_map(|paced| paced.gap_share));
    let behind = range(paced().filter_map(|paced| paced.behind_share));
    let mut lines = Vec::new();
    if let Some(gaps) = gaps {
        lines.push(format!(
            "{gaps} of the messages were due while the sender did not run, because of interrupts or other activity"
        ));
    }
    if let Some(behind) = behind {
        lines.push(format!("{behind} were due while the sender was still sending an earlier one"));
    }
    if paced().any(|paced| paced.only_disturbed) {
        lines.push(DISTURBED.to_owned());
    }
    if paced().any(|paced| figures(paced).iter().any(|figure| figure.ends_with('~'))) {
        lines.push(UNCERTAIN.to_owned());
    }
    lines
}

/// Formats the range of the medians of `shares`; `None` if there are none.
fn range(shares: impl Iterator<Item = Spread>) -> Option<String> {
    let (low, high) = shares
        .map(|spread| spread.median)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), share| {
            (low.min(share), high.max(share))
        });
    let (low, high) = (low <= high).then(|| (units::percent(low), units::percent(high)))?;
    Some(if low == high { low } else { format!("{low} to {high}") })
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;
    use ipcperf_results::analysis::summarize;
    use ipcperf_results::testing::sample;
    use ipcperf_results::{ExclusionReason, Sample};

    use super::*;

    fn paced(mechanism: &str, rate_per_s: u64, block: u32) -> Sample {
        let mut sample = sample(mechanism, WorkloadKind::Paced, 64, block, 1_000_000);
        sample.run.case.rate_per_s = Some(rate_per_s);
        sample.run.case.case_id = format!("{mechanism}/{rate_per_s}");
        let values = &mut sample.paced;
        (values.scheduled_per_s, values.achieved_per_s) = (Some(1_000.0), Some(500.0));
        (values.one_way_ns_p50, values.one_way_ns_p99) = (Some(130), Some(5_000));
        values.one_way_from_send_ns_p99 = Some(4_000);
        (values.saturated, values.clock_uncertainty_ns) = (Some(true), Some(80.0));
        (values.pacer_gap_share, values.pacer_behind_share) = (Some(0.015), Some(0.0));
        sample
    }

    fn tables(samples: &[Sample]) -> Vec<PacedTable> {
        let cases: Vec<String> =
            samples.iter().map(|sample| sample.run.case.case_id.clone()).collect();
        paced_tables(&summarize(&cases, &[], samples, &[], None))
    }

    #[test]
    fn every_rate_has_a_row_with_its_marks() {
        let mut samples = [paced("pipe", 1_000, 1), paced("pipe", 20_000, 1)];
        samples[1].excluded = Some(ExclusionReason::Disturbed);
        let [table] = &tables(&samples)[..] else { panic!("one heading") };
        let rows = &table.rows;
        assert_eq!(
            rows[0],
            ["pipe", "64 B", "1k/s", "50 %\nsaturated", "130 ns ~", "5.00 µs", "-", "4.00 µs", ""]
        );
        assert_eq!(rows[1][2..5], ["20k/s", "? 50 %\nsaturated", "? 130 ns ~"]);
        assert_eq!(table.pacing[2..], [DISTURBED, UNCERTAIN]);
        assert!(table.pacing[0].starts_with("1.5 % of the messages"), "{:?}", table.pacing);
    }

    #[test]
    fn other_cases_have_no_such_table() {
        assert!(tables(&[sample("pipe", WorkloadKind::Stream, 64, 1, 1_000_000)]).is_empty());
    }
}
