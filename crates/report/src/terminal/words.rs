//! Results as sentences.

use ipcperf_model::message_options::Handling;
use ipcperf_model::printable::printable_line;
use ipcperf_model::size::Bytes;
use ipcperf_model::units;
use ipcperf_model::workload::Kind;
use ipcperf_results::analysis::{
    CaseSummary, Comparison, Contender, Figure, LeftOut, Mode, Ranking, Refused, Undecided,
    comparisons,
};
use ipcperf_results::{FailedRun, PlanRecord};

use super::watched::unwatched_line;
use crate::wording::in_words;

/// Maximum number of left-out mechanisms that are named. More are only counted.
const MOST_LEFT_OUT: usize = 8;

/// Ratio below which two medians are called tied.
const LEVEL: f64 = 1.05;

/// Describes the best mechanism for small and for large messages with its lead, the mechanisms that were not compared,
/// and the cost of the harness itself.
pub fn survey_words(summaries: &[CaseSummary]) -> String {
    let mut lines: Vec<String> = comparisons(summaries).iter().map(in_full).collect();
    lines.extend(harness(summaries));
    lines.join("\n")
}

/// Describes a comparison with its size and place.
fn in_full(comparison: &Comparison) -> String {
    let (workload, placement, class, handling, words) = match comparison {
        Comparison::Ranked(Ranking { workload, placement, class, handling, .. }) => {
            (workload, placement, class, handling, ranked_words(comparison))
        }
        Comparison::Undecided(Undecided { workload, placement, class, handling, .. }) => {
            (workload, placement, class, handling, ranked_words(comparison))
        }
        Comparison::Refused(refused) => return not_compared(refused),
    };
    let size = Bytes(comparison.buffer_bytes());
    let class = class.as_ref().map_or_else(String::new, |class| format!(" ({class})"));
    let (what, asked) = (superlative(*workload), in_words(&handling.conditions()));
    format!("{what} at {size}, placement {placement}{class}{asked}: {words}")
}

/// Names the best, or the reason why none is named.
fn ranked_words(comparison: &Comparison) -> String {
    match comparison {
        Comparison::Ranked(ranking) => best_of(ranking),
        Comparison::Undecided(undecided) => nobody_of(undecided),
        Comparison::Refused(refused) => not_compared(refused),
    }
}

const fn superlative(workload: Kind) -> &'static str {
    match workload {
        Kind::RoundTrip => "Shortest round trip",
        Kind::RequestReply => "Shortest request and reply",
        Kind::Stream => "Highest bandwidth",
    }
}

/// Names the place of the peers, the criterion, and the best with its value and lead, or the reason why none is named.
pub fn compared_in_words(comparison: &Comparison) -> String {
    let (workload, place) = match comparison {
        Comparison::Ranked(Ranking { workload, placement, class, handling, .. }) => {
            (workload, place(placement, class.as_ref(), handling))
        }
        Comparison::Undecided(Undecided { workload, placement, class, handling, .. }) => {
            (workload, place(placement, class.as_ref(), handling))
        }
        Comparison::Refused(refused) => return not_compared(refused),
    };
    let (what, words) = (superlative(*workload).to_lowercase(), ranked_words(comparison));
    format!("{place}: {what}: {words}")
}

/// Describes where the peers of a comparison ran.
fn place(placement: &str, class: Option<&String>, handling: &Handling) -> String {
    let place = match placement {
        "same" => "Both parties on one CPU".to_owned(),
        "split" => "A CPU for each party".to_owned(),
        other => format!("Placement {other}"),
    };
    let asked = in_words(&handling.conditions());
    match class {
        Some(class) => format!("{place} ({class} apart, a cache line there and back){asked}"),
        None => format!("{place}{asked}"),
    }
}

/// Explains why no best mechanism is named.
fn nobody_of(undecided: &Undecided) -> String {
    let Undecided { workload, best_counted, left_out, .. } = undecided;
    let Some(best) = best_counted else {
        return format!(
            "not known, as too few runs count of {}.",
            listed(left_out, left_out_words)
        );
    };
    let is_better = |one: &LeftOut| one.looked_better(best, *workload);
    if !left_out.iter().any(is_better) {
        let left_out = listed(left_out, left_out_words);
        let best = figure(best, *workload);
        return format!(
            "not known: {best}, cannot be compared, as too few runs count of {left_out}."
        );
    }
    let looked = |one: &LeftOut| {
        let value = one.looked.map_or_else(String::new, |value| unit(*workload, value));
        format!("{}, {value} ({})", one.name, why_left_out(one))
    };
    let better = match workload {
        Kind::RoundTrip | Kind::RequestReply => "shorter than the shortest",
        Kind::Stream => "higher than the highest",
    };
    let (looked, best) = (listed(left_out, looked), figure(best, *workload));
    format!("not known: {looked}, looked {better} that counts, {best}.")
}

/// Names a mechanism left out of a ranking with the reason: `shm-ring (9 of 10 runs were disturbed)`.
pub(super) fn left_out_words(one: &LeftOut) -> String {
    format!("{} ({})", one.name, why_left_out(one))
}

/// Describes how many of its runs are invalid.
pub(super) fn why_left_out(one: &LeftOut) -> String {
    let LeftOut { runs, disturbed, failed, .. } = one;
    match (disturbed, failed) {
        (0, 0) => "not measured after the first block".to_owned(),
        (_, 0) => format!("{disturbed} of {runs} runs were disturbed"),
        (0, _) => format!("{failed} of {runs} runs failed"),
        _ => format!("of {runs} runs {disturbed} were disturbed and {failed} failed"),
    }
}

/// Lists left-out mechanisms, formatted by `words`. If there are many, some are only counted.
fn listed(left_out: &[LeftOut], words: impl Fn(&LeftOut) -> String) -> String {
    let mut names: Vec<String> = left_out.iter().take(MOST_LEFT_OUT).map(words).collect();
    if left_out.len() > MOST_LEFT_OUT {
        names.push(format!("{} more", left_out.len() - MOST_LEFT_OUT));
    }
    names.join(", ")
}

/// Names the best with its value and lead.
fn best_of(ranking: &Ranking) -> String {
    let ahead = match ranking.workload {
        Kind::RoundTrip | Kind::RequestReply => "shorter",
        Kind::Stream => "more",
    };
    let (best, second) = (figure(&ranking.best, ranking.workload), &ranking.second.name);
    let lead = match ranking.factor {
        None => {
            let second = figure(&ranking.second, ranking.workload);
            format!("before {second}; by what factor depends on the mode")
        }
        Some(factor) if factor < LEVEL => format!("level with {second}"),
        Some(factor) => {
            format!("{} {ahead} than the next, {second}", units::factor(factor))
        }
    };
    let elsewhere = match ranking.elsewhere.as_slice() {
        [] => String::new(),
        names => format!(
            " Not compared, as they were measured at another distance of the CPUs: {}.",
            names.join(", ")
        ),
    };
    let left_out = match ranking.left_out.as_slice() {
        [] => String::new(),
        left_out => format!("; without {}", listed(left_out, left_out_words)),
    };
    format!("{best}, {lead}{left_out}.{elsewhere}")
}

/// Formats a contender with its median, or with its modes if it has several.
fn figure(contender: &Contender, workload: Kind) -> String {
    let Contender { name, median, modes, .. } = contender;
    if modes.is_empty() {
        return format!("{name}, {}", unit(workload, *median));
    }
    let mode = |m: &Mode| format!("{} at {}", units::percent(m.share), unit(workload, m.median));
    format!("{name}, {}", modes.iter().map(mode).collect::<Vec<_>>().join(" and "))
}

/// Formats `value` in the unit by which a workload is ranked.
fn unit(workload: Kind, value: f64) -> String {
    match workload {
        Kind::RoundTrip | Kind::RequestReply => units::time(value),
        Kind::Stream => units::bandwidth(value),
    }
}

fn not_compared(refused: &Refused) -> String {
    let (size, place, workload) =
        (Bytes(refused.buffer_bytes), &refused.placement, refused.workload.name());
    let asked = in_words(&refused.handling.conditions());
    let measured = refused.measured.iter().map(|(name, class)| format!("{name} at {class}"));
    format!(
        "Not compared, {workload} at {size}, placement {place}{asked}: no two were measured at the same \
         distance of the CPUs ({}).",
        measured.collect::<Vec<_>>().join(", ")
    )
}

/// Describes the cost of a message that transfers nothing.
fn harness(summaries: &[CaseSummary]) -> Option<String> {
    let costs = summaries.iter().filter(|case| case.case.moves_nothing());
    let costs = costs.filter_map(CaseSummary::main).filter_map(|figure| match figure {
        Figure::PerMessage(spread) => Some(spread.median),
        _ => None,
    });
    let most = costs.fold(None, |most: Option<f64>, cost| Some(most.map_or(cost, |m| m.max(cost))));
    most.map(|cost| format!("The harness itself (null): at most {} a message.", units::time(cost)))
}

/// Lists what did not run or failed, one line each.
pub fn closing_lines<'a>(
    plan: &PlanRecord,
    failures: impl Iterator<Item = &'a FailedRun>,
) -> Vec<String> {
    let absent = plan.unavailable.iter().map(|absent| {
        format!("unavailable: {}: {} ({})", absent.mechanism, absent.reason, absent.remedy)
    });
    let failed = failures.map(|failure| {
        let errno = failure.errno.map_or_else(String::new, |number| {
            format!(" ({})", std::io::Error::from_raw_os_error(number))
        });
        let remedy = failure.remedy.as_ref().map_or_else(String::new, |r| format!("; {r}"));
        let (id, what, place) = (&failure.run.case.case_id, failure.what, &failure.place);
        let due = if failure.transient { "; ipcperf resume makes it again" } else { "" };
        format!("failed: {id}, block {}: {what}: {place}{errno}{remedy}{due}", failure.run.block)
    });
    let unwatched = plan.unwatched.iter().map(unwatched_line);
    let lines = absent.chain(unwatched).chain(failed);
    lines.map(|line| printable_line(&line).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use ipcperf_results::SetAside;
    use ipcperf_results::analysis::summarise;
    use ipcperf_results::testing::sample;

    use super::*;

    #[test]
    fn the_best_is_named_with_its_factor_and_null_is_never_ranked() {
        let (mut cases, mut samples) = (Vec::new(), Vec::new());
        let times = [("null", 1), ("pipe", 2_000), ("tcp", 5_000), ("fifo", 2_010)];
        for (mechanism, elapsed_us) in times {
            for workload in [Kind::Stream, Kind::RoundTrip] {
                let sample = sample(mechanism, workload, 64, 1, elapsed_us * 1_000);
                cases.push(sample.run.case.case_id.clone());
                samples.push(sample);
            }
        }
        insta::assert_snapshot!(survey_words(&summarise(&cases, &[], &samples, &[], None)));
    }

    /// Returns the closing sentences about one size of a stream. Each mechanism has the time of a run, us, and the
    /// number of disturbed runs out of ten.
    fn closing(mechanisms: &[(&str, u64, u32)]) -> String {
        let (mut cases, mut samples) = (Vec::new(), Vec::new());
        for &(mechanism, elapsed_us, disturbed) in mechanisms {
            for block in 0..=10 {
                let mut one = sample(mechanism, Kind::RoundTrip, 64, block, elapsed_us * 1_000);
                if (1..=disturbed).contains(&block) {
                    one.set_aside = Some(SetAside::Disturbed);
                }
                samples.push(one);
            }
            cases.push(samples[samples.len() - 1].run.case.case_id.clone());
        }
        survey_words(&summarise(&cases, &[], &samples, &[], None))
    }

    #[test]
    fn what_was_left_out_of_a_ranking_is_named_and_no_survivor_wins() {
        let named = closing(&[("pipe", 1_000, 0), ("tcp", 2_000, 0), ("fifo", 5_000, 9)]);
        assert!(named.contains(": pipe, "), "{named}");
        assert!(named.contains("; without fifo (9 of 10 runs were disturbed)."), "{named}");
        let unknown = closing(&[("shm-ring", 10, 9), ("pipe", 1_000, 0), ("tcp", 2_000, 0)]);
        let looked =
            "(9 of 10 runs were disturbed), looked shorter than the shortest that counts, pipe, ";
        assert!(unknown.contains(": not known: shm-ring, "), "{unknown}");
        assert!(unknown.contains(looked), "{unknown}");
        let none = closing(&[("shm-ring", 10, 10), ("pipe", 1_000, 10)]);
        assert!(none.contains("not known, as too few runs count of shm-ring (10 of 10"), "{none}");
    }
}
