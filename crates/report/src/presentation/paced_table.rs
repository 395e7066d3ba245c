//! Tables of paced cases: a row for each mechanism, size and rate.

use ipcperf_model::pacing::Pacer;
use ipcperf_model::rate::PerSecond;
use ipcperf_model::units;
use ipcperf_results::analysis::{CaseSummary, PacedSummary, Spread};

use super::text_table::{SizeColumn, TextTable};
use crate::wording::{Heading, by_heading};

/// Explanation of the columns, below the tables.
pub const PACED_LEGEND: &str = "carried: messages that arrived, or requests that were answered, as a share of those scheduled in \
    the same time. saturated: less than 99 % were carried, or ever more messages were waiting (in so many of the runs). p50 \
    to p99.9: latency from the scheduled time of each message (response time). from send: latency from the time at which \
    the sender turned to the message (service time), which leaves out how late that was. CPU/msg: CPU time of all roles \
    together, without that of waiting for the schedule. All values are medians over the repetitions; a dash means too few \
    messages for this percentile: use a longer --duration";
/// Explanation of figures that are not reliable.
const DISTURBED: &str = "? other activity disturbed every run: not reliable";
/// Explanation of figures that are too small for the clocks.
const UNCERTAIN: &str = "~ less than twice the uncertainty of the clocks of the two CPUs";
/// Headings of the columns after the name and the size.
const FIGURES: [&str; 7] = ["rate", "carried", "p50", "p99", "p99.9", "p99 from send", "CPU/msg"];

/// Returns the tables of the paced cases of `summaries`.
#[must_use]
pub fn paced_tables(summaries: &[CaseSummary]) -> Vec<TextTable> {
    let paced = by_heading(summaries).into_iter().filter(|(heading, _)| heading.is_paced());
    paced.map(|(heading, cases)| table(&heading, &cases)).collect()
}

fn table(heading: &Heading, cases: &[&CaseSummary]) -> TextTable {
    let sizes = SizeColumn::new(cases);
    let (metric, configuration) = (heading.metric_label(), heading.configuration());
    TextTable {
        heading: format!("{metric}, {configuration}{}", sizes.heading_end()),
        header: sizes.names().iter().copied().chain(FIGURES).collect(),
        rows: cases.iter().map(|case| row(case, sizes)).collect(),
        notes: notes(heading, cases),
    }
}

fn row(case: &CaseSummary, sizes: SizeColumn) -> Vec<String> {
    let rate = case.case.rate_per_s.map_or_else(String::new, |rate| PerSecond(rate).to_string());
    let state = if case.failed > 0 { "failed" } else { "no run" };
    let figures = match &case.paced {
        Some(paced) => figures(paced),
        None => [state, "", "", "", "", ""].map(str::to_owned),
    };
    sizes.cells(case.series(), case).chain([rate]).chain(figures).collect()
}

fn figures(paced: &PacedSummary) -> [String; 6] {
    let mark = if paced.only_disturbed { "? " } else { "" };
    let uncertain_ns = paced.clock_uncertainty_ns.map_or(0.0, |spread| 2.0 * spread.median);
    let time = |spread: Option<Spread>| match spread.map(|spread| spread.median) {
        None => "-".to_owned(),
        Some(ns) if ns < uncertain_ns => format!("{mark}{} ~", units::time(ns)),
        Some(ns) => format!("{mark}{}", units::time(ns)),
    };
    let carried = paced.carried_share.map(|share| format!("{mark}{}", carried_text(share.median)));
    let cpu = paced.cpu_ns_per_message;
    [
        format!("{}{}", carried.unwrap_or_else(|| "-".to_owned()), saturated_text(paced)),
        time(paced.latency_ns_p50),
        time(paced.latency_ns_p99),
        time(paced.latency_ns_p999),
        time(paced.from_send_ns_p99),
        cpu.map_or_else(String::new, |spread| units::time(spread.median)),
    ]
}

/// Formats the share that was carried, with a decimal near the 99 % that decide about saturation.
fn carried_text(share: f64) -> String {
    if (0.95..0.9995).contains(&share) {
        format!("{:.1} %", 100.0 * share)
    } else {
        units::percent(share)
    }
}

fn saturated_text(paced: &PacedSummary) -> String {
    match (paced.saturated_runs, paced.runs) {
        (0, _) => String::new(),
        (saturated, runs) if saturated == runs => "\nsaturated".to_owned(),
        (saturated, runs) => format!("\nsaturated {saturated}/{runs}"),
    }
}

/// Describes how well the senders of `cases` kept their schedules, and the marks of their figures.
fn notes(heading: &Heading, cases: &[&CaseSummary]) -> Vec<String> {
    let paced = || cases.iter().filter_map(|case| case.paced.as_ref());
    let occupied = if heading.workload().is_answered() {
        "waiting for the reply to an earlier one"
    } else {
        "sending an earlier one"
    };
    let late = range(paced().filter_map(|paced| paced.pacer_error_ns_p95), units::time);
    let gaps = range(paced().filter_map(|paced| paced.gap_share), units::percent);
    let behind = range(paced().filter_map(|paced| paced.behind_share), units::percent);
    let pacer = cases.first().and_then(|case| case.case.pacer).map_or("", Pacer::name);
    let lines = [
        late.map(|late| format!("pacer {pacer}: 95 % of the sends that were on time were at most {late} late")),
        gaps.map(|gaps| {
            format!("{gaps} of the messages were due while the sender did not run (interrupts, other activity)")
        }),
        behind.map(|behind| format!("{behind} of the messages were due while the sender was still {occupied}")),
        paced().any(|paced| paced.only_disturbed).then(|| DISTURBED.to_owned()),
        paced().any(is_uncertain).then(|| UNCERTAIN.to_owned()),
    ];
    lines.into_iter().flatten().collect()
}

/// Whether a latency is marked as uncertain.
fn is_uncertain(paced: &PacedSummary) -> bool {
    figures(paced).iter().any(|figure| figure.ends_with('~'))
}

/// Formats the range of the medians of `spreads`; `None` if there are none.
fn range(spreads: impl Iterator<Item = Spread>, format: fn(f64) -> String) -> Option<String> {
    let (low, high) = spreads
        .map(|spread| spread.median)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    let (low, high) = (low <= high).then(|| (format(low), format(high)))?;
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

    fn tables(samples: &[Sample]) -> Vec<TextTable> {
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
            ["pipe", "1k/s", "50 %\nsaturated", "130 ns ~", "5.00 µs", "-", "4.00 µs", ""]
        );
        assert_eq!(rows[1][1..4], ["20k/s", "? 50 %\nsaturated", "? 130 ns ~"]);
        assert!(table.heading.ends_with(", 64 B"), "{}", table.heading);
        assert_eq!(table.notes[2..], [DISTURBED, UNCERTAIN]);
        assert!(table.notes[0].starts_with("1.5 % of the messages"), "{:?}", table.notes);
    }

    #[test]
    fn sizes_that_differ_have_a_column_and_shares_near_the_limit_a_decimal() {
        let mut samples = [paced("pipe", 1_000, 1), paced("pipe", 20_000, 1)];
        samples[1].run.case.buffer_bytes = 128;
        samples[0].paced.achieved_per_s = Some(988.0);
        let [table] = &tables(&samples)[..] else { panic!("one heading") };
        assert_eq!(table.rows[0][..4], ["pipe", "64 B", "1k/s", "98.8 %\nsaturated"]);
        assert_eq!((table.header.len(), table.rows[0].len()), (9, 9));
    }

    #[test]
    fn other_cases_have_no_such_table() {
        assert!(tables(&[sample("pipe", WorkloadKind::Stream, 64, 1, 1_000_000)]).is_empty());
    }
}
