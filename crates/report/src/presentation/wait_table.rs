//! Tables of the recommended wait: a row for each mechanism, size and rate at which several were measured.

use ipcperf_model::rate::PerSecond;
use ipcperf_model::units;
use ipcperf_results::analysis::{
    CaseSummary, LatencyFigure, NoRecommendation, Spread, WAIT_OPTION, cases_by_wait, wait_of,
    why_no_recommendation,
};

use super::text_table::{SizeColumn, TextTable};
use crate::wording::{Heading, by_heading};

/// Explanation of the columns, below the tables.
pub const WAIT_LEGEND: &str = "wait for p50, wait for p99: the way to wait (option wait) that takes the least CPU time per message and \
    whose p50, or p99, is at most twice that of wait=spin, which never sleeps. A dash: p99 is compared only if there are at \
    least 20 valid runs of 5 s each (--repetitions 20 --duration 5s), because p99 of shorter runs differs too much";
/// Headings of the columns after the name and the size.
const FIGURES: [&str; 7] =
    ["rate", "wait for p50", "p50", "CPU/msg", "wait for p99", "p99", "CPU/msg"];

/// Returns the tables of the recommended waits of `summaries`. Below each, a line says why a wait is not recommended.
#[must_use]
pub fn wait_tables(summaries: &[CaseSummary]) -> Vec<TextTable> {
    let compared = |(heading, cases): (Heading, Vec<&CaseSummary>)| {
        let groups = cases_by_wait(&cases);
        (!groups.is_empty()).then(|| table(&heading, &groups))
    };
    by_heading(summaries).into_iter().filter_map(compared).collect()
}

fn table(heading: &Heading, groups: &[Vec<&CaseSummary>]) -> TextTable {
    let first: Vec<&CaseSummary> =
        groups.iter().filter_map(|group| group.first()).copied().collect();
    let sizes = SizeColumn::new(&first);
    let figures = |group: &[&CaseSummary]| {
        LatencyFigure::ALL.into_iter().flat_map(|figure| figures(group, figure)).collect::<Vec<_>>()
    };
    let row = |(case, group): (&&CaseSummary, &Vec<&CaseSummary>)| {
        let names = sizes.cells(name_without_wait(case), case);
        names.chain([rate_text(case)]).chain(figures(group)).collect()
    };
    let notes = first.iter().zip(groups).filter_map(|(case, group)| note(case, group));
    TextTable {
        heading: format!("Recommended wait, {}{}", heading.configuration(), sizes.heading_end()),
        header: sizes.names().iter().copied().chain(FIGURES).collect(),
        rows: first.iter().zip(groups).map(row).collect(),
        notes: notes.collect(),
    }
}

fn rate_text(case: &CaseSummary) -> String {
    case.case.rate_per_s.map_or_else(String::new, |per_s| PerSecond(per_s).to_string())
}

/// Says why no wait of `group` is recommended.
fn note(case: &CaseSummary, group: &[&CaseSummary]) -> Option<String> {
    let why = match why_no_recommendation(group)? {
        NoRecommendation::NoReference => {
            "add spin to the values of the option wait: the others are compared with it"
        }
        NoRecommendation::UnreliableReference => {
            "all runs with wait=spin were disturbed, or did not carry the rate"
        }
    };
    Some(format!("{} at {}: {why}", name_without_wait(case), rate_text(case)))
}

/// Returns the mechanism with its options and other settings, without how its peers wait.
fn name_without_wait(case: &CaseSummary) -> String {
    let mut case = case.clone();
    case.case.options.remove(WAIT_OPTION);
    case.series()
}

/// Returns the recommended wait for `figure`, its latency and its CPU time per message.
fn figures(group: &[&CaseSummary], figure: LatencyFigure) -> [String; 3] {
    let chosen = group.iter().find(|case| case.recommended_wait_for.contains(&figure));
    let Some((case, paced)) = chosen.and_then(|case| Some((case, case.paced.as_ref()?))) else {
        return ["-", "", ""].map(str::to_owned);
    };
    let latency = match figure {
        LatencyFigure::P50 => paced.latency_ns_p50,
        LatencyFigure::P99 => paced.latency_ns_p99,
    };
    let time = |spread: Option<Spread>| {
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

    fn measured(wait: &str, rate_per_s: u64, figures: &[LatencyFigure]) -> CaseSummary {
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
            measured("spin:50us", 1_000, &[LatencyFigure::P50]),
            measured("spin", 1_000, &[]),
            measured("block", 20_000, &[LatencyFigure::P50]),
            measured("spin", 20_000, &[]),
        ];
        let [table] = &wait_tables(&cases)[..] else { panic!("one heading") };
        assert_eq!(table.rows.len(), 2);
        let row = ["pipe", "1k/s", "spin:50us", "1.40 µs", "24.0 µs", "-", "", ""];
        assert_eq!(table.rows[0], row);
        assert_eq!(
            (&table.rows[1][1..3], table.notes.len()),
            (&["20k/s", "block"].map(str::to_owned)[..], 0)
        );
        assert!(table.heading.ends_with(", 64 B"), "{}", table.heading);
    }

    #[test]
    fn a_rate_without_a_recommended_wait_has_the_reason_below() {
        assert!(wait_tables(&[measured("spin", 1_000, &[])]).is_empty(), "nothing is compared");
        let waits = [measured("block", 1_000, &[]), measured("poll", 1_000, &[])];
        let [table] = &wait_tables(&waits)[..] else { panic!("one heading") };
        assert_eq!(table.rows[0][2], "-");
        assert!(table.notes[0].starts_with("pipe at 1k/s: add spin"), "{:?}", table.notes);
    }
}
