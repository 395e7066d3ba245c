//! Notes on data quality: excluded runs, observations about the machine, and medians that are not precise enough.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use ipcperf_model::parallel::map;
use ipcperf_model::printable::printable_line;
use ipcperf_model::{Precision, units};
use ipcperf_results::analysis::{
    CaseSummary, DistributionMode, UnrankedMechanism, ValidSamples, drift, is_disturbed,
};
use ipcperf_results::{ExclusionReason, FileEnd, Results, Sample};

use super::cell_text::MULTIMODAL_MARK;
use super::sentences::left_out_reason;
use crate::wording::MIN_CLASS_SHARE;

/// Maximum number of cases that a note lists. More are only counted.
const MAX_LISTED: usize = 8;

/// Heading of the cases that are left out of rankings.
const NOT_RANKED: &str = "Not ranked, because fewer than half of the repetitions are valid:";

/// A note on data quality: a sentence, and the cases that it applies to, if it lists them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Sentence, which ends in a colon if cases follow.
    pub text: String,
    /// Cases, each with its value.
    pub cases: Vec<String>,
}

impl From<String> for Note {
    fn from(text: String) -> Self {
        Self { text, cases: Vec::new() }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.cases.iter().try_for_each(|case| write!(f, "\n  {case}"))
    }
}

/// Returns all notes on `samples` and their `summaries`.
pub fn notes(
    summaries: &[CaseSummary],
    samples: &[Sample],
    precision: Option<Precision>,
) -> Vec<Note> {
    let mut notes: Vec<Note> = disturbed_note(samples).into_iter().map(Note::from).collect();
    notes.extend(with_heading(NOT_RANKED, not_ranked(summaries)));
    notes.extend(with_heading("Drift over the repetitions:", drifts(summaries, samples)));
    notes.extend(notes_without_tables(summaries, samples, precision));
    notes
}

/// Returns those notes on `samples` and their `summaries` that the tables on data quality in a report do not contain.
pub fn notes_without_tables(
    summaries: &[CaseSummary],
    samples: &[Sample],
    precision: Option<Precision>,
) -> Vec<Note> {
    let classes = distance_classes_note(samples).map(Note::from);
    let mut notes: Vec<Note> =
        classes.into_iter().chain(round_trip_modes_note(summaries)).collect();
    notes
        .extend(precision.into_iter().flat_map(|precision| precision_notes(summaries, &precision)));
    notes
}

/// Returns a note if the file ends before its plan.
pub fn unfinished_note(results: &Results) -> Option<String> {
    let is_whole = results.end == FileEnd::Closed
        && results.footer.as_ref().is_none_or(|footer| footer.complete);
    if is_whole {
        return None;
    }
    let due = results.failures.iter().filter(|failure| failure.transient).count();
    if due > 0 && results.end == FileEnd::Closed {
        let runs = if due == 1 { "1 run" } else { &format!("{due} runs") };
        return Some(format!(
            "Incomplete: {runs} failed with a transient error; ipcperf resume retries them."
        ));
    }
    let last = results.samples.iter().map(|sample| sample.run.block).max();
    let plan = &results.header.plan;
    let planned = match (plan.until_ci, &plan.until_decided) {
        // A search for the knee goes on after the planned repetitions.
        (None, None) if plan.knee.is_none() => format!(" of {}", plan.repetitions),
        _ => String::new(),
    };
    Some(format!(
        "Incomplete: the command ended in repetition {}{planned}; the results are those up to then. ipcperf resume \
         continues the measurement.",
        last.unwrap_or(0)
    ))
}

#[allow(clippy::cast_precision_loss, reason = "a share of counts")]
fn percent_of(part: usize, all: usize) -> String {
    units::percent(part as f64 / all.max(1) as f64)
}

/// Returns a note on the number of disturbed runs.
pub(super) fn disturbed_note(samples: &[Sample]) -> Option<String> {
    let later = samples.iter().filter(|sample| sample.run.block > 0);
    let (all, disturbed): (usize, Vec<&Sample>) =
        (later.clone().count(), later.filter(|sample| is_disturbed(sample)).collect());
    if disturbed.is_empty() {
        return None;
    }
    let moved = disturbed
        .iter()
        .filter(|s| s.excluded == Some(ExclusionReason::CpuDistanceChanged))
        .count();
    let lost = missing_repetitions(&disturbed, samples);
    let mut text = format!(
        "{} of {all} runs ({}) were disturbed by other activity; they were excluded, and retried if attempts were \
         left.",
        disturbed.len(),
        percent_of(disturbed.len(), all)
    );
    if moved > 0 {
        text += &format!(
            " In {moved} of them, the measured distance of the two CPUs changed during the run."
        );
    }
    if lost > 0 {
        let missing =
            if lost == 1 { "1 repetition is" } else { &format!("{lost} repetitions are") };
        text += &format!(
            " {missing} missing, because every attempt was disturbed: stop other programs, and measure again."
        );
    }
    Some(text)
}

/// Describes why a run was excluded.
pub fn exclusion_text(sample: &Sample) -> String {
    let probes = [sample.cacheline_round_trip_before_ns, sample.cacheline_round_trip_after_ns];
    match (sample.excluded, probes) {
        (None, _) => String::new(),
        (Some(cause @ ExclusionReason::CpuDistanceChanged), [Some(before), Some(after)]) => {
            let [before, after] = [before, after].map(units::time);
            format!(
                "{}: cache-line round trip {before} before, {after} after",
                cause.describe_run()
            )
        }
        (Some(cause), _) => cause.describe_run().to_owned(),
    }
}

/// Returns the number of repetitions without a valid attempt.
fn missing_repetitions(disturbed: &[&Sample], samples: &[Sample]) -> usize {
    let mut lost: HashSet<(&str, u32)> = disturbed
        .iter()
        .map(|sample| (sample.run.case.case_id.as_str(), sample.run.block))
        .collect();
    for sample in samples.iter().filter(|sample| sample.excluded.is_none()) {
        lost.remove(&(sample.run.case.case_id.as_str(), sample.run.block));
    }
    lost.len()
}

/// Returns a note on the CPU distance classes, if there are several.
fn distance_classes_note(samples: &[Sample]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.excluded.is_none()) {
        if let Some(class) = &sample.cpu_pair_class {
            *counts.entry(class).or_default() += 1;
        }
    }
    if counts.len() < 2 {
        return None;
    }
    let all = counts.values().sum();
    let parts =
        counts.iter().map(|(class, &count)| format!("{class} in {}", percent_of(count, all)));
    Some(format!(
        "The runs fall into {} CPU distance classes, by cache-line round trip ({} of the runs). Each class has its \
         own tables, and results of different classes are not compared. Classes with less than {} of the runs are in \
         --json only.",
        counts.len(),
        parts.collect::<Vec<_>>().join(", "),
        units::percent(MIN_CLASS_SHARE)
    ))
}

/// Lists the modes of every case that is marked as having several, so that no case is shown with its median alone.
fn round_trip_modes_note(summaries: &[CaseSummary]) -> Option<Note> {
    let mode = |mode: &DistributionMode| {
        format!("{} at {}", units::percent(mode.share), units::time(mode.median))
    };
    let several = summaries.iter().filter(|case| !case.round_trip_modes.is_empty());
    let cases: Vec<String> = several
        .map(|case| {
            let modes: Vec<String> = case.round_trip_modes.iter().map(mode).collect();
            format!("{}: {}", name(case), modes.join(", "))
        })
        .collect();
    let text = format!("{MULTIMODAL_MARK} Round-trip times have several modes:");
    (!cases.is_empty()).then_some(Note { text, cases })
}

/// Lists the cases that are left out of rankings, each with the reason.
pub fn not_ranked(summaries: &[CaseSummary]) -> Vec<String> {
    let is_ranked = |case: &&CaseSummary| case.refused.is_none() && !case.case.is_harness_only();
    let left_out = summaries.iter().filter(is_ranked).filter(|case| case.is_mostly_missing());
    left_out
        .map(|case| {
            format!("{}: {}", name(case), left_out_reason(&UnrankedMechanism::from_summary(case)))
        })
        .collect()
}

/// Returns the name of a case with its CPU distance class, if there is one.
fn name(case: &CaseSummary) -> String {
    let class = case.cpu_pair_class.as_ref().map_or_else(String::new, |c| format!(" ({c})"));
    printable_line(&format!("{}{class}", case.case.case_id)).into_owned()
}

/// Lists the cases whose values rise or fall from the first repetition to the last.
fn drifts(summaries: &[CaseSummary], samples: &[Sample]) -> Vec<String> {
    let valid = ValidSamples::new(samples);
    let drifts = map(summaries.iter(), |case| {
        let change = drift(valid.of_case(case))?;
        let (sign, size) = if change < 0.0 { ("-", -change) } else { ("+", change) };
        let size = units::percent(size);
        Some(format!("{}: {sign}{size} from the first to the last repetition", name(case)))
    });
    drifts.into_iter().flatten().collect()
}

/// Returns a note on how many medians reached the requested precision, and on those that did not.
fn precision_notes(summaries: &[CaseSummary], precision: &Precision) -> Vec<Note> {
    let wanted = units::percent(precision.half_width);
    let half_width = |case: &CaseSummary| {
        let (median, [low, high]) = (case.main()?.spread().median, case.median_interval?);
        Some((precision.is_met(median, low, high), (high - low) / 2.0 / median))
    };
    let all: Vec<_> = summaries.iter().filter(|case| case.refused.is_none()).collect();
    let unmet: Vec<String> = all
        .iter()
        .filter_map(|case| match half_width(case) {
            Some((true, _)) => None,
            Some((false, half)) => Some(format!("{}: ±{}", name(case), units::percent(half))),
            None => Some(format!("{}: unknown", name(case))),
        })
        .collect();
    let met = all.len() - unmet.len();
    let text = format!("{met} of {} medians have reached a precision of ±{wanted}.", all.len());
    let mut notes = vec![Note::from(text)];
    notes.extend(with_heading(
        "These medians did not reach this precision within the maximum number of repetitions or time:",
        unmet,
    ));
    notes
}

/// Returns a note with the given cases, if there are any.
fn with_heading(heading: &str, mut cases: Vec<String>) -> Option<Note> {
    if cases.is_empty() {
        return None;
    }
    if cases.len() > MAX_LISTED {
        let more = cases.split_off(MAX_LISTED).len();
        cases.push(format!("... and {more} more (--json has all)"));
    }
    Some(Note { text: heading.to_owned(), cases })
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;
    use ipcperf_results::analysis::summarize;
    use ipcperf_results::testing::sample;

    use super::*;

    fn notes_text(samples: &[Sample], precision: Option<Precision>) -> String {
        let mut cases: Vec<String> = Vec::new();
        for sample in samples {
            if !cases.contains(&sample.run.case.case_id) {
                cases.push(sample.run.case.case_id.clone());
            }
        }
        let notes = notes(&summarize(&cases, &[], samples, &[], None), samples, precision);
        notes.iter().map(Note::to_string).collect::<Vec<_>>().join("\n\n")
    }

    fn quiet(block: u32) -> Sample {
        let wobble = u64::from(block * 7 % 5);
        sample("pipe", WorkloadKind::Stream, 64, block, 1_000_000 + 1_000 * wobble)
    }

    #[test]
    fn a_quiet_machine_needs_no_note() {
        assert_eq!(notes_text(&(1..=20).map(quiet).collect::<Vec<_>>(), None), "");
    }

    #[test]
    fn everything_out_of_the_ordinary_is_told() {
        let mut samples: Vec<Sample> = (1..=20).map(quiet).collect();
        samples[3].excluded = Some(ExclusionReason::Disturbed);
        samples[4].excluded = Some(ExclusionReason::CpuDistanceChanged);
        let again = Sample { excluded: None, ..samples[4].clone() };
        samples.push(again);
        for (sample, class) in samples.iter_mut().skip(5).zip(["46ns", "375ns"]) {
            sample.cpu_pair_class = Some(class.to_owned());
        }
        let drifting = (1..=20_u32).map(|block| {
            sample("tcp", WorkloadKind::Stream, 64, block, 1_000_000 + 40_000 * u64::from(block))
        });
        samples.extend(drifting);
        let precision = Precision {
            half_width: 0.02,
            min_repetitions: 10,
            max_repetitions: 20,
            max_time_s: 1.0,
        };
        insta::assert_snapshot!(notes_text(&samples, Some(precision)));
    }
}
