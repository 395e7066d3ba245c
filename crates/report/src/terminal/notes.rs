//! Notes on data quality: excluded runs, observations about the machine, and medians that are not precise enough.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use ipcperf_model::parallel::map;
use ipcperf_model::printable::printable_line;
use ipcperf_model::{Precision, units};
use ipcperf_results::analysis::{CaseSummary, LeftOut, Mode, main_figure, was_held_up};
use ipcperf_results::{End, Results, Sample, SetAside};
use ipcperf_stats::{Steadiness, is_steady};

use super::table::SEVERAL_MODES;
use super::words::why_left_out;
use crate::wording::SELDOM;

/// Maximum number of cases that a note lists. More are only counted.
const LISTED: usize = 8;

/// Heading of the cases that are left out of rankings.
const NOT_RANKED: &str = "Left out of rankings, as fewer than half of their repetitions count:";

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
    let mut notes: Vec<Note> = disturbances(samples).into_iter().map(Note::from).collect();
    notes.extend(listed(NOT_RANKED, not_ranked(summaries)));
    notes.extend(classes(samples).map(Note::from));
    notes.extend(trip_modes(summaries));
    notes.extend(listed("Not steady over the repetitions:", drifts(samples)));
    notes.extend(precision.into_iter().flat_map(|precision| known(summaries, &precision)));
    notes
}

/// Returns a note if the file ends before its plan.
pub fn unfinished(results: &Results) -> Option<String> {
    let is_whole =
        results.end == End::Closed && results.footer.as_ref().is_none_or(|footer| footer.complete);
    if is_whole {
        return None;
    }
    let due = results.failures.iter().filter(|failure| failure.transient).count();
    if due > 0 && results.end == End::Closed {
        let runs = if due == 1 { "1 run" } else { &format!("{due} runs") };
        return Some(format!(
            "Not finished: {runs} failed for want of something that may be back; ipcperf resume makes them again."
        ));
    }
    let last = results.samples.iter().map(|sample| sample.run.block).max();
    let plan = &results.header.plan;
    let planned = match (plan.until_ci, &plan.until_decided) {
        (None, None) => format!(" of {}", plan.repetitions),
        _ => String::new(),
    };
    Some(format!(
        "Not finished: the command was ended in repetition {}{planned}. What is here is of what was measured \
         by then; ipcperf resume goes on with the file.",
        last.unwrap_or(0)
    ))
}

#[allow(clippy::cast_precision_loss, reason = "a share of counts")]
fn share(part: usize, all: usize) -> String {
    units::percent(part as f64 / all.max(1) as f64)
}

/// Returns a note on the number of disturbed runs.
fn disturbances(samples: &[Sample]) -> Option<String> {
    let later = samples.iter().filter(|sample| sample.run.block > 0);
    let (all, held_up): (usize, Vec<&Sample>) =
        (later.clone().count(), later.filter(|sample| was_held_up(sample)).collect());
    if held_up.is_empty() {
        return None;
    }
    let moved = held_up.iter().filter(|s| s.set_aside == Some(SetAside::ProbeDisagrees)).count();
    let lost = lost_repetitions(&held_up, samples);
    let mut text = format!(
        "The machine held up {} of {all} runs ({}); they are set aside, and were made again where \
         attempts were left.",
        held_up.len(),
        share(held_up.len(), all)
    );
    if moved > 0 {
        text += &format!(" In {moved} of them the CPUs moved closer or further apart.");
    }
    if lost > 0 {
        text += &format!(
            " Repetitions missing, as no attempt at them was undisturbed: {lost}; quieten the \
             machine, or raise --attempts."
        );
    }
    Some(text)
}

/// Describes why a run was excluded.
pub fn set_aside_in_words(sample: &Sample) -> String {
    let probes = [sample.cacheline_round_trip_before_ns, sample.cacheline_round_trip_after_ns];
    match (sample.set_aside, probes) {
        (None, _) => String::new(),
        (Some(cause @ SetAside::ProbeDisagrees), [Some(before), Some(after)]) => {
            let [before, after] = [before, after].map(units::time);
            format!("{}: {before} apart before, {after} after", cause.of_one())
        }
        (Some(cause), _) => cause.of_one().to_owned(),
    }
}

/// Returns the number of repetitions without a valid attempt.
fn lost_repetitions(held_up: &[&Sample], samples: &[Sample]) -> usize {
    let mut lost: HashSet<(&str, u32)> =
        held_up.iter().map(|sample| (sample.run.case.case_id.as_str(), sample.run.block)).collect();
    for sample in samples.iter().filter(|sample| sample.set_aside.is_none()) {
        lost.remove(&(sample.run.case.case_id.as_str(), sample.run.block));
    }
    lost.len()
}

/// Returns a note on the CPU distance classes, if there are several.
fn classes(samples: &[Sample]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.set_aside.is_none()) {
        if let Some(class) = &sample.cpu_pair_class {
            *counts.entry(class).or_default() += 1;
        }
    }
    if counts.len() < 2 {
        return None;
    }
    let all = counts.values().sum();
    let parts = counts.iter().map(|(class, &count)| format!("{class} in {}", share(count, all)));
    Some(format!(
        "The two CPUs were seen at {} distances (a cache line there and back: {} of the runs): \
         tables are by distance, and figures of different distances are not compared. A distance \
         of less than {} of the runs is left to --json.",
        counts.len(),
        parts.collect::<Vec<_>>().join(", "),
        units::percent(SELDOM)
    ))
}

/// Lists the modes of every case that is marked as having several, so that no case is shown with its median alone.
fn trip_modes(summaries: &[CaseSummary]) -> Option<Note> {
    let mode =
        |mode: &Mode| format!("{} at {}", units::percent(mode.share), units::time(mode.median));
    let several = summaries.iter().filter(|case| !case.round_trip_modes.is_empty());
    let cases: Vec<String> = several
        .map(|case| {
            let modes: Vec<String> = case.round_trip_modes.iter().map(mode).collect();
            format!("{}: {}", name(case), modes.join(", "))
        })
        .collect();
    let text = format!("{SEVERAL_MODES} Single round trips have several modes:");
    (!cases.is_empty()).then_some(Note { text, cases })
}

/// Lists the cases that are left out of rankings, each with the reason.
pub fn not_ranked(summaries: &[CaseSummary]) -> Vec<String> {
    let is_ranked = |case: &&CaseSummary| case.refused.is_none() && !case.case.moves_nothing();
    let left_out = summaries.iter().filter(is_ranked).filter(|case| case.is_mostly_missing());
    left_out.map(|case| format!("{}: {}", name(case), why_left_out(&LeftOut::of(case)))).collect()
}

/// Returns the name of a case with its CPU distance class, if there is one.
fn name(case: &CaseSummary) -> String {
    let class = case.cpu_pair_class.as_ref().map_or_else(String::new, |c| format!(" ({c})"));
    printable_line(&format!("{}{class}", case.case.case_id)).into_owned()
}

/// Lists the cases whose values rise or fall from the first repetition to the last.
fn drifts(samples: &[Sample]) -> Vec<String> {
    let mut series: HashMap<(&str, &Option<String>), Vec<f64>> = HashMap::new();
    for sample in samples.iter().filter(|sample| sample.set_aside.is_none()) {
        let key = (sample.run.case.case_id.as_str(), &sample.cpu_pair_class);
        series.entry(key).or_default().extend(main_figure(sample));
    }
    let mut series: Vec<_> = series.into_iter().collect();
    series.sort_unstable_by_key(|(key, _)| *key);
    let drifts = map(series.iter(), |((case, _), figures)| drift(case, figures));
    drifts.into_iter().flatten().collect()
}

/// Returns the line for `case` if its `figures` drift.
fn drift(case: &str, figures: &[f64]) -> Option<String> {
    match is_steady(figures)? {
        Steadiness::Steady => None,
        Steadiness::Drifting { change, .. } => {
            let (sign, size) = if change < 0.0 { ("-", -change) } else { ("+", change) };
            let case = printable_line(case);
            Some(format!("{case}: {sign}{} from first to last", units::percent(size)))
        }
    }
}

/// Returns a note on how many medians reached the requested precision, and on those that did not.
fn known(summaries: &[CaseSummary], precision: &Precision) -> Vec<Note> {
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
            Some((false, half)) => Some(format!("{}: {} only", name(case), units::percent(half))),
            None => Some(format!("{}: not known", name(case))),
        })
        .collect();
    let met = all.len() - unmet.len();
    let text = format!("{met} of {} medians are known to {wanted}.", all.len());
    let mut notes = vec![Note::from(text)];
    notes.extend(listed("Stopped before that, at the cap on repetitions or time:", unmet));
    notes
}

/// Returns a note with the given cases, if there are any.
fn listed(heading: &str, mut cases: Vec<String>) -> Option<Note> {
    if cases.is_empty() {
        return None;
    }
    if cases.len() > LISTED {
        let more = cases.split_off(LISTED).len();
        cases.push(format!("... and {more} more (--json has all)"));
    }
    Some(Note { text: heading.to_owned(), cases })
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::Kind;
    use ipcperf_results::analysis::summarise;
    use ipcperf_results::testing::sample;

    use super::*;

    fn told(samples: &[Sample], precision: Option<Precision>) -> String {
        let mut cases: Vec<String> = Vec::new();
        for sample in samples {
            if !cases.contains(&sample.run.case.case_id) {
                cases.push(sample.run.case.case_id.clone());
            }
        }
        let notes = notes(&summarise(&cases, &[], samples, &[], None), samples, precision);
        notes.iter().map(Note::to_string).collect::<Vec<_>>().join("\n\n")
    }

    fn quiet(block: u32) -> Sample {
        let wobble = u64::from(block * 7 % 5);
        sample("pipe", Kind::Stream, 64, block, 1_000_000 + 1_000 * wobble)
    }

    #[test]
    fn a_quiet_machine_needs_no_note() {
        assert_eq!(told(&(1..=20).map(quiet).collect::<Vec<_>>(), None), "");
    }

    #[test]
    fn everything_out_of_the_ordinary_is_told() {
        let mut samples: Vec<Sample> = (1..=20).map(quiet).collect();
        samples[3].set_aside = Some(SetAside::Disturbed);
        samples[4].set_aside = Some(SetAside::ProbeDisagrees);
        let again = Sample { set_aside: None, ..samples[4].clone() };
        samples.push(again);
        for (sample, class) in samples.iter_mut().skip(5).zip(["46ns", "375ns"]) {
            sample.cpu_pair_class = Some(class.to_owned());
        }
        let drifting = (1..=20_u32).map(|block| {
            sample("tcp", Kind::Stream, 64, block, 1_000_000 + 40_000 * u64::from(block))
        });
        samples.extend(drifting);
        let precision = Precision {
            half_width: 0.02,
            least_repetitions: 10,
            most_repetitions: 20,
            most_s: 1.0,
        };
        insta::assert_snapshot!(told(&samples, Some(precision)));
    }
}
