//! Results as sentences.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use ipcperf_model::printable::printable_line;
use ipcperf_model::units;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_results::analysis::{
    CaseSummary, Comparison, Contender, DistributionMode, MainFigure, Ranking, RefusedComparison,
    UndecidedComparison, UnrankedMechanism, comparisons,
};
use ipcperf_results::{FailedRun, PlanRecord};

use super::instruments::unavailable_line;
use crate::wording::{TIE_RATIO, conditions_text};

/// Maximum number of left-out mechanisms that are named. More are only counted.
const MAX_LEFT_OUT: usize = 8;

/// Describes the best mechanism for small and for large messages with its lead, the mechanisms that were not compared,
/// and the cost of the harness itself.
pub fn survey_text(summaries: &[CaseSummary]) -> String {
    let mut lines: Vec<String> = comparisons(summaries).iter().map(comparison_line).collect();
    lines.extend(harness_line(summaries));
    lines.join("\n")
}

/// Describes a comparison with its size and place.
pub(super) fn comparison_line(comparison: &Comparison) -> String {
    let (workload, placement, class, message_options, words) = match comparison {
        Comparison::Ranked(Ranking { workload, placement, class, message_options, .. }) => {
            (workload, placement, class, message_options, ranking_text(comparison))
        }
        Comparison::Undecided(UndecidedComparison {
            workload,
            placement,
            class,
            message_options,
            ..
        }) => (workload, placement, class, message_options, ranking_text(comparison)),
        Comparison::Refused(refused) => return not_compared_text(refused),
    };
    let size = message_options.size_text(comparison.buffer_bytes());
    let class = class.as_ref().map_or_else(String::new, |class| format!(" ({class})"));
    let (what, conditions) =
        (superlative(*workload), conditions_text(&message_options.non_defaults()));
    format!("{what} at {size}, placement {placement}{class}{conditions}: {words}")
}

/// Names the best, or the reason why none is named.
fn ranking_text(comparison: &Comparison) -> String {
    match comparison {
        Comparison::Ranked(ranking) => best_text(ranking),
        Comparison::Undecided(undecided) => undecided_text(undecided),
        Comparison::Refused(refused) => not_compared_text(refused),
    }
}

const fn superlative(workload: WorkloadKind) -> &'static str {
    match workload {
        WorkloadKind::RoundTrip | WorkloadKind::PairsRoundTrip => "Shortest round trip",
        WorkloadKind::RequestReply | WorkloadKind::Server => "Shortest request-reply time",
        WorkloadKind::Stream | WorkloadKind::FanIn | WorkloadKind::FanOut | WorkloadKind::Pairs => {
            "Highest bandwidth"
        }
        WorkloadKind::Paced => "Shortest latency",
    }
}

/// Explains why no best mechanism is named.
fn undecided_text(undecided: &UndecidedComparison) -> String {
    let UndecidedComparison { workload, best_valid: best_counted, unranked: left_out, .. } =
        undecided;
    let Some(best) = best_counted else {
        return format!(
            "unknown: too few valid runs of {}.",
            list_left_out(left_out, left_out_text)
        );
    };
    let is_better = |one: &UnrankedMechanism| one.has_better_excluded_median(best, *workload);
    if !left_out.iter().any(is_better) {
        let left_out = list_left_out(left_out, left_out_text);
        let best = contender_text(best, *workload);
        return format!("undecided: only {best}, has enough valid runs; not ranked: {left_out}.");
    }
    let looked = |one: &UnrankedMechanism| {
        let value =
            one.excluded_median.map_or_else(String::new, |value| format_value(*workload, value));
        format!("{}, {value} ({})", one.name, left_out_reason(one))
    };
    let (looked, best) = (list_left_out(left_out, looked), contender_text(best, *workload));
    format!(
        "undecided: {looked}, looked better than the best mechanism with enough valid runs, {best}."
    )
}

/// Names a mechanism left out of a ranking with the reason: `shm-ring (9 of 10 runs were disturbed)`.
pub(super) fn left_out_text(one: &UnrankedMechanism) -> String {
    format!("{} ({})", one.name, left_out_reason(one))
}

/// Describes how many of its runs are invalid.
pub(super) fn left_out_reason(one: &UnrankedMechanism) -> String {
    let UnrankedMechanism { runs, disturbed, failed, .. } = one;
    match (disturbed, failed) {
        (0, 0) => "not measured after the first block".to_owned(),
        (_, 0) => format!("{disturbed} of {runs} runs were disturbed"),
        (0, _) => format!("{failed} of {runs} runs failed"),
        _ => format!("of {runs} runs, {disturbed} were disturbed and {failed} failed"),
    }
}

/// Lists left-out mechanisms, formatted by `words`. If there are many, some are only counted.
fn list_left_out(
    left_out: &[UnrankedMechanism],
    words: impl Fn(&UnrankedMechanism) -> String,
) -> String {
    let mut names: Vec<String> = left_out.iter().take(MAX_LEFT_OUT).map(words).collect();
    if left_out.len() > MAX_LEFT_OUT {
        names.push(format!("{} more", left_out.len() - MAX_LEFT_OUT));
    }
    names.join(", ")
}

/// Names the best with its value and lead.
fn best_text(ranking: &Ranking) -> String {
    let ahead = match ranking.workload.is_streamed() {
        true => "the bandwidth of",
        false => "as fast as",
    };
    let (best, second) = (contender_text(&ranking.best, ranking.workload), &ranking.second.name);
    let lead = match ranking.factor {
        None => modes_text(ranking),
        Some(factor) if factor < TIE_RATIO => format!("tied with {second}"),
        Some(factor) => {
            format!("{} {ahead} {second}", units::factor(factor))
        }
    };
    let elsewhere = match ranking.other_classes.as_slice() {
        [] => String::new(),
        names => {
            format!(" Not compared (measured in another CPU distance class): {}.", names.join(", "))
        }
    };
    let left_out = match ranking.unranked.as_slice() {
        [] => String::new(),
        left_out => format!("; not ranked: {}", list_left_out(left_out, left_out_text)),
    };
    let price = price_text(ranking);
    format!("{best}, {lead}{price}{left_out}.{elsewhere}")
}

/// States what the lead costs, if it costs CPU time: the factor by which the CPU time is above that of the second, and how
/// many CPUs are kept busy. Empty if the best is not more expensive.
fn price_text(ranking: &Ranking) -> String {
    let second = &ranking.second.name;
    let mut prices = Vec::new();
    if let Some(factor) = ranking.cpu_factor().filter(|factor| *factor >= TIE_RATIO) {
        prices.push(format!("uses {} the CPU time of {second}", units::factor(factor)));
    }
    if let Some([best, other]) = ranking.burned_cpus() {
        prices.push(format!("keeps {best:.1} CPUs busy ({second}: {other:.1})"));
    }
    if prices.is_empty() { String::new() } else { format!("; it {}", prices.join(" and ")) }
}

/// Compares the best with the second if one of them has several modes, so that a ratio of medians would mean nothing.
fn modes_text(ranking: &Ranking) -> String {
    let second = contender_text(&ranking.second, ranking.workload);
    if ranking.modes_are_apart() {
        format!("ahead of {second}; no factor, because results fall into several modes")
    } else {
        format!("not clearly ahead of {second}: results fall into several modes, which overlap")
    }
}

/// Formats a contender with its median, or with its modes if it has several.
fn contender_text(contender: &Contender, workload: WorkloadKind) -> String {
    let Contender { name, median, modes, .. } = contender;
    if modes.is_empty() {
        return format!("{name}, {}", format_value(workload, *median));
    }
    let mode = |m: &DistributionMode| {
        format!("{}: {}", units::percent(m.share), format_value(workload, m.median))
    };
    format!("{name}, {}", modes.iter().map(mode).collect::<Vec<_>>().join(" and "))
}

/// Formats `value` in the unit by which a workload is ranked.
fn format_value(workload: WorkloadKind, value: f64) -> String {
    if workload.is_streamed() { units::bandwidth(value) } else { units::time(value) }
}

fn not_compared_text(refused: &RefusedComparison) -> String {
    let (size, place, workload) = (
        refused.message_options.size_text(refused.buffer_bytes),
        &refused.placement,
        refused.workload.name(),
    );
    let asked = conditions_text(&refused.message_options.non_defaults());
    let measured = refused.measured.iter().map(|(name, class)| format!("{name}: {class}"));
    format!(
        "Not compared: {workload} at {size}, placement {place}{asked}: no two mechanisms were measured in the same \
         CPU distance class ({}).",
        measured.collect::<Vec<_>>().join(", ")
    )
}

/// Describes the cost of a message that transfers nothing.
fn harness_line(summaries: &[CaseSummary]) -> Option<String> {
    let costs = summaries.iter().filter(|case| case.case.is_harness_only());
    let costs = costs.filter_map(CaseSummary::main).filter_map(|figure| match figure {
        MainFigure::PerMessage(spread) => Some(spread.median),
        _ => None,
    });
    let most = costs.fold(None, |most: Option<f64>, cost| Some(most.map_or(cost, |m| m.max(cost))));
    most.map(|cost| format!("Harness overhead (null): at most {} per message.", units::time(cost)))
}

/// Lists what did not run or failed, one line each.
pub fn closing_lines<'a>(
    plan: &PlanRecord,
    failures: impl Iterator<Item = &'a FailedRun>,
) -> Vec<String> {
    let absent = plan.unavailable.iter().map(|absent| {
        format!("unavailable: {}: {} ({})", absent.mechanism, absent.reason, absent.remedy)
    });
    let failed = alike(failures).into_iter().map(|(failure, others)| failed_line(failure, others));
    let unavailable_instruments = plan.unavailable_instruments.iter().map(unavailable_line);
    let lines = absent.chain(unavailable_instruments).chain(failed);
    lines.map(|line| printable_line(&line).into_owned()).collect()
}

/// Returns the first of the failures of each case that are of one kind, with the number of the others.
fn alike<'a>(failures: impl Iterator<Item = &'a FailedRun>) -> Vec<(&'a FailedRun, usize)> {
    let mut found: Vec<(&FailedRun, usize)> = Vec::new();
    let mut places: HashMap<_, usize> = HashMap::new();
    for one in failures {
        let kind = (&one.run.case.case_id, one.what, one.errno, &one.remedy, one.transient);
        match places.entry(kind) {
            Entry::Occupied(place) => found[*place.get()].1 += 1,
            Entry::Vacant(place) => {
                place.insert(found.len());
                found.push((one, 0));
            }
        }
    }
    found
}

/// Describes `failure`, and says that its case has `others` like it.
fn failed_line(failure: &FailedRun, others: usize) -> String {
    let errno = failure.errno.map_or_else(String::new, |number| {
        format!(" ({})", std::io::Error::from_raw_os_error(number))
    });
    let remedy = failure.remedy.as_ref().map_or_else(String::new, |r| format!("; {r}"));
    let (id, what, place) = (&failure.run.case.case_id, failure.what, &failure.place);
    let due = if failure.transient { "; ipcperf resume retries it" } else { "" };
    let block = match failure.run.block {
        0 => "first repetition (not counted)".to_owned(),
        block => format!("repetition {block}"),
    };
    let others = match others {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("failed: {id}, {block}{others}: {what}: {place}{errno}{remedy}{due}")
}

#[cfg(test)]
mod tests {
    use ipcperf_model::{Failure, FailureKind};
    use ipcperf_results::ExclusionReason;
    use ipcperf_results::analysis::summarize;
    use ipcperf_results::testing::sample;

    use super::*;

    #[test]
    fn failures_of_a_case_that_are_alike_are_told_once() {
        let failed = |mechanism: &str, block: u32, what: FailureKind| {
            let mut run = sample(mechanism, WorkloadKind::Stream, 64, 1, 1).run;
            run.block = block;
            FailedRun::new(run, Failure::new(what, format!("in block {block}")))
        };
        let all = [
            failed("pipe", 1, FailureKind::Died),
            failed("tcp", 1, FailureKind::Died),
            failed("pipe", 2, FailureKind::Died),
            failed("pipe", 3, FailureKind::Timeout),
            failed("pipe", 4, FailureKind::Died),
        ];
        let found: Vec<String> =
            alike(all.iter()).into_iter().map(|(one, others)| failed_line(one, others)).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("repetition 1 and 2 more: ") && found[0].contains("in block 1"));
        assert!(found[1].contains("tcp/") && found[1].contains("repetition 1: "));
        assert!(found[2].contains("repetition 3: "));
    }

    #[test]
    fn the_best_is_named_with_its_factor_and_null_is_never_ranked() {
        let (mut cases, mut samples) = (Vec::new(), Vec::new());
        let times = [("null", 1), ("pipe", 2_000), ("tcp", 5_000), ("fifo", 2_010)];
        for (mechanism, elapsed_us) in times {
            for workload in [WorkloadKind::Stream, WorkloadKind::RoundTrip] {
                let sample = sample(mechanism, workload, 64, 1, elapsed_us * 1_000);
                cases.push(sample.run.case.case_id.clone());
                samples.push(sample);
            }
        }
        insta::assert_snapshot!(survey_text(&summarize(&cases, &[], &samples, &[], None)));
    }

    /// Returns the closing sentences about one size of a stream. Each mechanism has the time of a run, us, and the
    /// number of disturbed runs out of ten.
    fn survey(mechanisms: &[(&str, u64, u32)]) -> String {
        let (mut cases, mut samples) = (Vec::new(), Vec::new());
        for &(mechanism, elapsed_us, disturbed) in mechanisms {
            for block in 0..=10 {
                let mut one =
                    sample(mechanism, WorkloadKind::RoundTrip, 64, block, elapsed_us * 1_000);
                if (1..=disturbed).contains(&block) {
                    one.excluded = Some(ExclusionReason::Disturbed);
                }
                samples.push(one);
            }
            cases.push(samples[samples.len() - 1].run.case.case_id.clone());
        }
        survey_text(&summarize(&cases, &[], &samples, &[], None))
    }

    #[test]
    fn what_was_left_out_of_a_ranking_is_named_and_no_survivor_wins() {
        let named = survey(&[("pipe", 1_000, 0), ("tcp", 2_000, 0), ("fifo", 5_000, 9)]);
        assert!(named.contains(": pipe, "), "{named}");
        assert!(named.contains("; not ranked: fifo (9 of 10 runs were disturbed)."), "{named}");
        let unknown = survey(&[("shm-ring", 10, 9), ("pipe", 1_000, 0), ("tcp", 2_000, 0)]);
        let looked = "(9 of 10 runs were disturbed), looked better than the best mechanism with enough valid runs, pipe, ";
        assert!(unknown.contains(": undecided: shm-ring, "), "{unknown}");
        assert!(unknown.contains(looked), "{unknown}");
        let none = survey(&[("shm-ring", 10, 10), ("pipe", 1_000, 10)]);
        assert!(none.contains("unknown: too few valid runs of shm-ring (10 of 10"), "{none}");
    }

    #[test]
    fn a_mechanism_that_wins_by_burning_cpu_time_says_so() {
        let price = |cpu_us: [u64; 2]| {
            let pairs = [("shm-ring", 1_000, cpu_us[0]), ("pipe", 3_000, cpu_us[1])];
            let samples = pairs.map(|(mechanism, elapsed_us, cpu_us)| {
                let mut one = sample(mechanism, WorkloadKind::RoundTrip, 64, 1, elapsed_us * 1_000);
                one.roles.insert("sender_cpu_ns".to_owned(), Some(cpu_us * 1_000));
                one
            });
            let cases = samples.iter().map(|one| one.run.case.case_id.clone()).collect::<Vec<_>>();
            survey_text(&summarize(&cases, &[], &samples, &[], None))
        };
        let spins = price([2_000, 3_000]);
        assert!(spins.contains("as pipe; it keeps 2.0 CPUs busy (pipe: 1.0)."), "{spins}");
        let costs = price([2_000, 1_000]);
        let both = "; it uses 2.0 times the CPU time of pipe and keeps 2.0 CPUs busy (pipe: 0.3).";
        assert!(costs.contains(both), "{costs}");
        assert!(price([900, 3_000]).contains("as fast as pipe."), "{}", price([900, 3_000]));
    }

    /// Returns the closing sentences about a mechanism with two modes, 1 and 3 ms, and another with one, us.
    fn survey_with_modes(second_us: u64) -> String {
        let (mut cases, mut samples) = (Vec::new(), Vec::new());
        for mechanism in ["pipe", "tcp"] {
            for block in 0..=40_u32 {
                let mode_us = if block < 25 { 1_000 } else { 3_000 };
                let elapsed_us = if mechanism == "pipe" { mode_us } else { second_us };
                let elapsed_ns = elapsed_us * 1_000 + u64::from(block);
                samples.push(sample(mechanism, WorkloadKind::Stream, 64, block, elapsed_ns));
            }
            cases.push(samples[samples.len() - 1].run.case.case_id.clone());
        }
        survey_text(&summarize(&cases, &[], &samples, &[], None))
    }

    #[test]
    fn what_has_overlapping_modes_is_not_called_ahead() {
        let apart = survey_with_modes(5_000);
        assert!(apart.contains(", ahead of tcp"), "{apart}");
        let overlapping = survey_with_modes(2_000);
        assert!(overlapping.contains(", not clearly ahead of tcp"), "{overlapping}");
    }
}
