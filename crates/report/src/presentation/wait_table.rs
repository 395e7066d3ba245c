//! Tables of the recommended wait: a row for each mechanism, size and rate at which several were measured.

use std::collections::HashSet;

use ipcperf_model::rate::PerSecond;
use ipcperf_model::size::Bytes;
use ipcperf_model::units;
use ipcperf_results::analysis::{
    CaseSummary, LatencyFigure, NoRecommendation, WAIT_OPTION, missing_recommendations, wait_of,
};

use super::paced_table::PacedTable;
use crate::wording::{Heading, by_heading};

/// Explanation of the columns, below the tables.
pub const WAIT_LEGEND: &str = "wait for p50, wait for p99: the way to wait (option wait) that takes the least CPU time per message and \
    whose p50, or p99, is at most twice that of wait=spin, which never sleeps. A dash: p99 is compared only if there are at \
    least 20 valid runs of 5 s each (--repetitions 20 --duration 5s), because p99 of shorter runs differs too much";

/// Returns the tables of the ways to wait that are chosen in `summaries`.
#[must_use]
pub fn wait_tables(summaries: &[CaseSummary]) -> Vec<PacedTable> {
    let chosen = |(heading, cases): (Heading, Vec<&CaseSummary>)| {
        let cases: Vec<_> =
            cases.into_iter().filter(|case| !case.recommended_wait_for.is_empty()).collect();
        (!cases.is_empty()).then(|| table(&heading, &cases))
    };
    by_heading(summaries).into_iter().filter_map(chosen).collect()
}

/// Returns lines that say why no wait is recommended, where several were measured.
#[must_use]
pub fn no_recommendation_lines(summaries: &[CaseSummary]) -> Vec<String> {
    let line = |(case, reason): (&CaseSummary, NoRecommendation)| {
        let name = name_without_wait(case);
        let rate =
            case.case.rate_per_s.map_or_else(String::new, |per_s| PerSecond(per_s).to_string());
        let why = match reason {
            NoRecommendation::NoReference => {
                "add spin to the values of the option wait: the others are compared with it"
            }
            NoRecommendation::UnreliableReference => {
                "all runs with wait=spin were disturbed, or did not carry the rate"
            }
        };
        format!("No recommended wait for {name} at {rate}: {why}")
    };
    missing_recommendations(summaries).into_iter().map(line).collect()
}

fn table(heading: &Heading, cases: &[&CaseSummary]) -> PacedTable {
    let mut seen = HashSet::new();
    let mut rows = Vec::new();
    for case in cases {
        let (name, size) = (name_without_wait(case), Bytes(case.case.buffer_bytes).to_string());
        let rate =
            case.case.rate_per_s.map_or_else(String::new, |per_s| PerSecond(per_s).to_string());
        if !seen.insert((name.clone(), size.clone(), rate.clone())) {
            continue;
        }
        let same = |other: &&&CaseSummary| {
            name_without_wait(other) == name
                && (other.case.buffer_bytes, other.case.rate_per_s)
                    == (case.case.buffer_bytes, case.case.rate_per_s)
        };
        let group: Vec<&CaseSummary> = cases.iter().filter(same).copied().collect();
        let figures = LatencyFigure::ALL.into_iter().flat_map(|figure| choice(&group, figure));
        rows.push([name, size, rate].into_iter().chain(figures).collect());
    }
    PacedTable {
        heading: format!("Recommended wait, {}", heading.configuration()),
        header: vec![
            "mechanism",
            "buffer",
            "rate",
            "wait for p50",
            "p50",
            "CPU/msg",
            "wait for p99",
            "p99",
            "CPU/msg",
        ],
        rows,
        notes: Vec::new(),
    }
}

/// Returns the mechanism with its options and other settings, without how its peers wait.
fn name_without_wait(case: &CaseSummary) -> String {
    let mut case = case.clone();
    case.case.options.remove(WAIT_OPTION);
    case.series()
}

/// Returns the chosen wait for `figure`, its latency and its CPU time per message.
fn choice(group: &[&CaseSummary], figure: LatencyFigure) -> [String; 3] {
    let chosen = group.iter().find(|case| case.recommended_wait_for.contains(&figure));
    let Some((case, paced)) = chosen.and_then(|case| Some((case, case.paced.as_ref()?))) else {
        return ["-", "", ""].map(str::to_owned);
    };
    let latency = match figure {
        LatencyFigure::P50 => paced.latency_ns_p50,
        LatencyFigure::P99 => paced.latency_ns_p99,
    };
    let time = |spread: Option<ipcperf_results::analysis::Spread>| {
        spread.map_or_else(|| "-".to_owned(), |spread| units::time(spread.median))
    };
    let wait = wait_of(&case.case).unwrap_or("default").to_owned();
    [wait, time(latency), time(paced.cpu_ns_per_message)]
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;
    use ipcperf_results::analysis::summarize;
    use ipcperf_results::testing::sample;

    use super::*;

    fn chosen(wait: &str, rate_per_s: u64, figures: &[LatencyFigure]) -> CaseSummary {
        let mut sample = sample("pipe", WorkloadKind::Paced, 64, 1, 1_000_000);
        let case = &mut sample.run.case;
        case.case_id = format!("pipe[wait={wait}]/{rate_per_s}");
        case.options.insert(WAIT_OPTION.to_owned(), wait.to_owned());
        case.rate_per_s = Some(rate_per_s);
        sample.paced.one_way_ns_p50 = Some(1_400);
        sample.cpu_ns_per_message = Some(24_000.0);
        let id = sample.run.case.case_id.clone();
        let mut summary = summarize(&[id], &[], &[sample], &[], None).remove(0);
        summary.recommended_wait_for = figures.to_vec();
        summary
    }

    #[test]
    fn every_rate_has_one_recommended_wait() {
        let cases = [
            chosen("spin:50us", 1_000, &[LatencyFigure::P50]),
            chosen("spin", 1_000, &[]),
            chosen("block", 20_000, &[LatencyFigure::P50]),
        ];
        let [table] = &wait_tables(&cases)[..] else { panic!("one heading") };
        assert_eq!(table.rows.len(), 2);
        let row = ["pipe", "64 B", "1k/s", "spin:50us", "1.40 µs", "24.0 µs", "-", "", ""];
        assert_eq!(table.rows[0], row);
        assert_eq!(table.rows[1][2..4], ["20k/s", "block"]);
    }

    #[test]
    fn without_a_choice_there_is_no_table_but_a_reason() {
        assert!(wait_tables(&[chosen("spin", 1_000, &[])]).is_empty());
        let waits = [chosen("block", 1_000, &[]), chosen("poll", 1_000, &[])];
        let [line] = &no_recommendation_lines(&waits)[..] else { panic!("one line") };
        assert!(line.starts_with("No recommended wait for pipe at 1k/s: add spin"), "{line}");
    }
}
