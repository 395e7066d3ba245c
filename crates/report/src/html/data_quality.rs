//! Data quality: how many runs were excluded and why, which figures to distrust, and other irregularities.

use ipcperf_model::units;
use ipcperf_results::analysis::{AnalyzedFile, main_figure};
use ipcperf_results::{ExclusionReason, Sample};
use maud::{Markup, html};

use super::distrusted_cases::distrusted_cases;
use super::lettered;
use crate::terminal::{Note, closing_lines, exclusion_text, notes_without_tables, unfinished_note};

pub(super) fn section(files: &[AnalyzedFile]) -> Markup {
    html! {
        @for (file, letter) in lettered(files) {
            @if let Some(letter) = letter { h3 { (letter) } }
            (file_section(file))
        }
    }
}

fn file_section(file: &AnalyzedFile) -> Markup {
    let results = &file.results;
    let plan = &results.header.plan;
    let seen = notes_without_tables(&file.summaries, &results.samples, plan.until_ci);
    let notes: Vec<Note> =
        unfinished_note(results).map(Note::from).into_iter().chain(seen).collect();
    let closing = closing_lines(plan, results.failures.iter());
    html! {
        (run_counts(&results.samples, results.failures.len()))
        (distrusted_cases(file))
        @for note in &notes { (paragraph(note)) }
        @if !closing.is_empty() { ul { @for line in &closing { li { (line) } } } }
        (disturbed_runs(&results.samples))
    }
}

/// Number of runs with one outcome, and the reason for it.
struct RunOutcome {
    name: &'static str,
    count: usize,
    reason: &'static str,
}

/// Returns how many runs were valid, were excluded for each reason, or failed.
fn run_outcomes(samples: &[Sample], failed: usize) -> [RunOutcome; 5] {
    let count = |reason: Option<ExclusionReason>| {
        samples.iter().filter(|sample| sample.excluded == reason).count()
    };
    let outcome = |name, count, reason| RunOutcome { name, count, reason };
    [
        outcome("valid", count(None), "all figures come from these runs"),
        outcome(
            "excluded: first block",
            count(Some(ExclusionReason::First)),
            "the first run of each case also fills caches and memory, which later runs find ready",
        ),
        outcome(
            "excluded: disturbed",
            count(Some(ExclusionReason::Disturbed)),
            "other activity on the machine; retried if attempts were left",
        ),
        outcome(
            "excluded: CPU distance changed",
            count(Some(ExclusionReason::CpuDistanceChanged)),
            "the hypervisor or the scheduler moved a CPU; retried if attempts were left",
        ),
        outcome("failed", failed, "the run ended with an error, which is below"),
    ]
}

/// Shows how many runs were excluded, and why.
#[allow(clippy::cast_precision_loss, reason = "a share of counts")]
fn run_counts(samples: &[Sample], failed: usize) -> Markup {
    let outcomes = run_outcomes(samples, failed);
    let all = outcomes.iter().map(|outcome| outcome.count).sum::<usize>();
    html! {
        div.scroll { table.runs {
            caption { "Runs" }
            thead { tr { th { "runs" } th.figure { "number" } th.figure { "share" } th { "why" } } }
            tbody {
                @for RunOutcome { name, count, reason } in outcomes.iter().filter(|one| one.count > 0) { tr {
                    th scope="row" { (name) } td.figure { (count) }
                    td.figure { (units::percent(*count as f64 / all as f64)) } td { (reason) }
                } }
                tr { th scope="row" { "all" } td.figure { (all) } td.figure {} td {} }
            }
        } }
    }
}

/// Shows a note: its sentence, and its cases below, if it lists any.
fn paragraph(Note { text, cases }: &Note) -> Markup {
    html! {
        @if cases.is_empty() { p { (text) } } @else {
            details { summary { (text) " (" (cases.len()) ")" } ul { @for case in cases { li { (case) } } } }
        }
    }
}

/// Lists every disturbed run with the reason.
fn disturbed_runs(samples: &[Sample]) -> Markup {
    let is_disturbed = |s: &&Sample| s.excluded.is_some_and(ExclusionReason::is_disturbance);
    let disturbed: Vec<&Sample> = samples.iter().filter(is_disturbed).collect();
    html! {
        @if !disturbed.is_empty() {
            details {
                summary { "Disturbed runs, which are excluded (" (disturbed.len()) ")" }
                div.scroll { table {
                    thead { tr {
                        th { "case" } th { "block" } th { "attempt" } th { "reason" } th.figure { "result" }
                        th.figure { "run delay" } th.figure { "steal time" }
                    } }
                    tbody { @for sample in disturbed { (run_row(sample)) } }
                } }
            }
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "times for people")]
fn run_row(sample: &Sample) -> Markup {
    let case = &sample.run.case;
    let figure = main_figure(sample).map(|value| {
        let is_rate = sample.bandwidth_bytes_per_s.is_some() && !case.is_harness_only();
        if is_rate { units::bandwidth(value) } else { units::time(value) }
    });
    let time = |ns: Option<u64>| ns.map(|ns| units::time(ns as f64));
    html! {
        tr {
            td { (case.case_id) } td { (sample.run.block) } td { (sample.run.attempt) }
            td { (exclusion_text(sample)) } td.figure { (figure.unwrap_or_default()) }
            td.figure { (time(sample.run_delay_ns).unwrap_or_default()) }
            td.figure { (time(sample.steal_ns).unwrap_or_default()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;
    use ipcperf_results::testing::{analyzed_file, sample};

    use super::*;

    #[test]
    fn excluded_runs_are_counted_by_reason() {
        let mut samples: Vec<Sample> = (0..=10)
            .map(|block| sample("pipe", WorkloadKind::Stream, 64, block, 1_000_000))
            .collect();
        samples[0].excluded = Some(ExclusionReason::First);
        samples[1].excluded = Some(ExclusionReason::Disturbed);
        samples[2].excluded = Some(ExclusionReason::Disturbed);
        let counts: Vec<usize> =
            run_outcomes(&samples, 1).iter().map(|outcome| outcome.count).collect();
        assert_eq!(counts, [8, 1, 2, 0, 1]);
        let page = section(&[analyzed_file("x", samples, Vec::new())]).into_string();
        assert!(
            page.contains("excluded: disturbed") && !page.contains("distance changed"),
            "{page}"
        );
    }

    /// The tables above the notes contain them already.
    #[test]
    fn disturbed_runs_drift_and_unranked_cases_are_not_repeated_as_notes() {
        let mut samples: Vec<Sample> = (1..=20)
            .map(|block| {
                let ns = 1_000_000 + 40_000 * u64::from(block);
                sample("pipe", WorkloadKind::Stream, 64, block, ns)
            })
            .collect();
        for one in (1..=20).map(|block| sample("tcp", WorkloadKind::Stream, 64, block, 1_000)) {
            samples.push(Sample { excluded: Some(ExclusionReason::Disturbed), ..one });
        }
        let page = section(&[analyzed_file("x", samples, Vec::new())]).into_string();
        assert!(page.contains("Figures to distrust") && page.contains("drift: "), "{page}");
        for note in ["Not ranked", "Drift over the repetitions", "were disturbed by other"] {
            assert!(!page.contains(note), "{note}: {page}");
        }
    }
}
