//! Tables of knees: a row for each case whose knee was searched.

use std::collections::HashSet;

use ipcperf_model::rate::PerSecond;
use ipcperf_model::units;
use ipcperf_results::analysis::{
    CaseSummary, KNEE_MIN_RUNS as MIN_RUNS, KneeOutcome, KneeStep, KneeSummary, KneeVerdict,
};

use super::text_table::{SizeColumn, TextTable};
use crate::wording::{Heading, by_heading};

/// Explanation of the columns, below the tables.
pub const KNEE_LEGEND: &str = "knee: the highest rate at which the mechanism keeps up and p99 stays below the bound; it lies between \
    the two rates. p99: response time over all undisturbed runs at a rate together, with its 95 % interval; messages that \
    were due while the sender did not run are left out. unpaced: rate without a schedule. verdict: whether the rate is below \
    or above the knee";
/// Headings of the columns after the name.
const FIGURES: [&str; 4] = ["unpaced", "p99 bound", "knee", "p99 below knee"];

/// Returns the tables of the knees in `summaries`, each after the table of the rates that were tried.
#[must_use]
pub fn knee_tables(summaries: &[CaseSummary]) -> Vec<TextTable> {
    let with_knees = by_heading(summaries).into_iter().filter_map(|(heading, cases)| {
        let cases: Vec<_> = cases.into_iter().filter(|case| !case.knees.is_empty()).collect();
        (!cases.is_empty()).then(|| [steps(&heading, &cases), table(&heading, &cases)])
    });
    with_knees.flatten().collect()
}

/// Returns the table of the rates that were tried, and why each is below or above the knee.
fn steps(heading: &Heading, cases: &[&CaseSummary]) -> TextTable {
    let sizes = SizeColumn::new(cases);
    let row = |case: &CaseSummary, knee: &KneeSummary, step: &KneeStep| {
        let schedule = [knee.schedule.arrivals.to_string(), PerSecond(step.rate_per_s).to_string()];
        sizes.cells(case.series(), case).chain(schedule).chain(step_figures(step)).collect()
    };
    let rows = cases.iter().flat_map(|case| {
        let of_knee = |knee: &KneeSummary| {
            knee.steps.iter().map(|step| row(case, knee, step)).collect::<Vec<_>>()
        };
        case.knees.iter().flat_map(of_knee).collect::<Vec<_>>()
    });
    TextTable {
        heading: format!(
            "Rates tried for the knee, {}{}",
            heading.configuration(),
            sizes.heading_end()
        ),
        header: sizes
            .names()
            .iter()
            .copied()
            .chain(["arrivals", "rate", "runs", "saturated", "p99", "95 % interval", "verdict"])
            .collect(),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

fn step_figures(step: &KneeStep) -> [String; 5] {
    let interval = step.p99_interval_ns.map_or_else(String::new, |[low, high]| {
        format!("{} to {}", units::time(low), units::time(high))
    });
    let verdict = match step.verdict {
        KneeVerdict::Below => "below",
        KneeVerdict::Above => "above",
        KneeVerdict::Undecided => "undecided",
    };
    [
        step.runs.to_string(),
        step.saturated_runs.to_string(),
        step.p99_ns.map_or_else(|| "-".to_owned(), units::time),
        interval,
        verdict.to_owned(),
    ]
}

fn table(heading: &Heading, cases: &[&CaseSummary]) -> TextTable {
    let sizes = SizeColumn::new(cases);
    let knees = || cases.iter().flat_map(|case| &case.knees);
    let schedules: HashSet<_> = knees().map(|knee| knee.schedule).collect();
    // As with sizes, a column that has the same value everywhere would take the room of the names.
    let schedule = (schedules.len() > 1).then_some("arrivals");
    let row = |case: &&CaseSummary, knee: &KneeSummary| {
        let schedule = schedule.map(|_| schedule_text(knee));
        sizes.cells(case.series(), case).chain(schedule).chain(figures(knee)).collect()
    };
    TextTable {
        heading: format!(
            "Knee of the {}, {}{}",
            heading.workload().name(),
            heading.configuration(),
            sizes.heading_end()
        ),
        header: sizes.names().iter().copied().chain(schedule).chain(FIGURES).collect(),
        rows: cases
            .iter()
            .flat_map(|case| case.knees.iter().map(move |knee| row(case, knee)))
            .collect(),
        notes: cases
            .iter()
            .flat_map(|case| case.knees.iter().filter_map(|knee| note(case, knee)))
            .collect(),
    }
}

fn schedule_text(knee: &KneeSummary) -> String {
    format!("{}, {}", knee.schedule.arrivals, knee.schedule.pacer.name())
}

fn figures(knee: &KneeSummary) -> [String; 4] {
    let unpaced = knee.unpaced_per_s.map_or_else(|| "-".to_owned(), units::rate);
    let below =
        knee.low_per_s.and_then(|low| step_at(knee, low)).map_or_else(String::new, p99_text);
    [unpaced, knee.p99_bound_ns.map_or_else(|| "-".to_owned(), units::time), knee_text(knee), below]
}

fn knee_text(knee: &KneeSummary) -> String {
    match (knee.low_per_s, knee.high_per_s) {
        (Some(low), Some(high)) => format!("{} to {}", PerSecond(low), PerSecond(high)),
        (Some(low), None) => format!("above {}", PerSecond(low)),
        (None, Some(high)) => format!("below {}", PerSecond(high)),
        (None, None) => "-".to_owned(),
    }
}

fn step_at(knee: &KneeSummary, rate_per_s: u64) -> Option<&KneeStep> {
    knee.steps.iter().find(|step| step.rate_per_s == rate_per_s)
}

fn p99_text(step: &KneeStep) -> String {
    let p99 = step.p99_ns.map_or_else(|| "-".to_owned(), units::time);
    match step.p99_interval_ns {
        Some([low, high]) => format!("{p99} ({} to {})", units::time(low), units::time(high)),
        None => p99,
    }
}

/// Describes why a search ended before the interval was narrow.
fn note(case: &CaseSummary, knee: &KneeSummary) -> Option<String> {
    let name = case.series();
    Some(match knee.outcome {
        KneeOutcome::Found => return None,
        KneeOutcome::Undecided => {
            let undecided = |step: &&KneeStep| step.verdict == KneeVerdict::Undecided;
            let step = knee.steps.iter().rfind(undecided)?;
            let rate = PerSecond(step.rate_per_s);
            if step.p99_ns.is_none() && step.runs >= MIN_RUNS as usize {
                format!(
                    "{name}: {rate} is undecided: its {} runs have too few messages for p99; use a longer --duration",
                    step.runs
                )
            } else if step.runs >= MIN_RUNS as usize {
                format!(
                    "{name}: {rate} is undecided after {} undisturbed runs: p99 {}; use a longer --duration",
                    step.runs,
                    p99_text(step)
                )
            } else {
                format!(
                    "{name}: {rate} is undecided: {} of its runs were undisturbed, and {MIN_RUNS} are needed: stop other programs",
                    step.runs
                )
            }
        }
        KneeOutcome::AboveRange => format!("{name}: the knee is above four times the unpaced rate"),
        KneeOutcome::BelowRange => {
            format!("{name}: p99 exceeds the bound even at a ten-thousandth of the unpaced rate")
        }
        KneeOutcome::Failed => format!("{name}: the search ended because a run failed"),
        KneeOutcome::Unfinished => {
            format!("{name}: the search is not finished; ipcperf resume continues it")
        }
    })
}

#[cfg(test)]
mod tests {
    use ipcperf_model::knee::KneeSchedule;
    use ipcperf_model::pacing::{Arrivals, Pacer};
    use ipcperf_model::workload::WorkloadKind;
    use ipcperf_results::analysis::summarize;
    use ipcperf_results::testing::sample;

    use super::*;

    fn knee(end: KneeOutcome, low_per_s: Option<u64>, high_per_s: Option<u64>) -> KneeSummary {
        let step = |rate_per_s, verdict| KneeStep {
            rate_per_s,
            runs: 5,
            saturated_runs: 0,
            p99_ns: Some(40_000.0),
            p99_interval_ns: Some([38_000.0, 45_000.0]),
            verdict,
        };
        KneeSummary {
            schedule: KneeSchedule { arrivals: Arrivals::Even, pacer: Pacer::Spin },
            unpaced_per_s: Some(412_345.0),
            p99_bound_ns: Some(41_000.0),
            low_per_s,
            high_per_s,
            outcome: end,
            steps: vec![step(64_000, KneeVerdict::Below), step(96_000, KneeVerdict::Undecided)],
        }
    }

    fn tables_of(knees: Vec<KneeSummary>) -> Vec<TextTable> {
        let sample = sample("pipe", WorkloadKind::Stream, 64, 1, 1_000_000);
        let cases = [sample.run.case.case_id.clone()];
        let mut summaries = summarize(&cases, &[], &[sample], &[], None);
        summaries[0].knees = knees;
        knee_tables(&summaries)
    }

    #[test]
    fn a_knee_is_an_interval_of_rates() {
        let [steps, table] =
            &tables_of(vec![knee(KneeOutcome::Found, Some(64_000), Some(70_000))])[..]
        else {
            panic!("two tables")
        };
        let step = ["64k/s", "5", "0", "40.0 µs", "38.0 µs to 45.0 µs", "below"];
        assert_eq!(steps.rows[0][2..], step);
        let row = ["pipe", "412k/s", "41.0 µs", "64k/s to 70k/s", "40.0 µs (38.0 µs to 45.0 µs)"];
        assert_eq!(table.rows, [row]);
        assert!(table.notes.is_empty() && table.heading.ends_with(", 64 B"), "{table:?}");
    }

    #[test]
    fn a_search_that_ended_early_says_why() {
        let undecided = knee(KneeOutcome::Undecided, Some(64_000), Some(120_000));
        let mut poisson = knee(KneeOutcome::AboveRange, Some(64_000), None);
        poisson.schedule.arrivals = Arrivals::Poisson;
        let [_, table] = &tables_of(vec![undecided, poisson])[..] else { panic!("two tables") };
        let p99 = "p99 40.0 µs (38.0 µs to 45.0 µs)";
        assert_eq!(
            table.notes[0],
            format!(
                "pipe: 96k/s is undecided after 5 undisturbed runs: {p99}; use a longer --duration"
            )
        );
        assert_eq!(table.rows[1][1], "poisson, spin");
        assert_eq!(table.rows[1][4], "above 64k/s");
    }

    #[test]
    fn other_cases_have_no_such_table() {
        assert!(tables_of(Vec::new()).is_empty());
    }
}
