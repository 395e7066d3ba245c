//! Results in words.

use ipcperf_engine::workload::Kind;

use super::heading::in_words;
use super::units;
use super::watched::unwatched_line;
use crate::plan::Bytes;
use crate::printable::printable_line;
use crate::results::{FailedRun, PlanRecord};
use crate::summary::{
    CaseSummary, Comparison, Contender, Figure, Ranking, Refused, comparisons, moves_nothing,
};

/// Closer than this, two medians are not told apart in words.
const LEVEL: f64 = 1.05;

/// Which mechanism is best for small and for large messages, by what factor, what was not compared,
/// and what the harness itself costs.
pub(crate) fn survey_words(summaries: &[CaseSummary]) -> String {
    let mut lines: Vec<String> = comparisons(summaries)
        .iter()
        .map(|comparison| match comparison {
            Comparison::Ranked(ranking) => ranked(ranking),
            Comparison::Refused(refused) => not_compared(refused),
        })
        .collect();
    lines.extend(harness(summaries));
    lines.join("\n")
}

fn ranked(ranking: &Ranking) -> String {
    let (size, place) = (Bytes(ranking.buffer_bytes), &ranking.placement);
    let class = ranking.class.as_ref().map_or_else(String::new, |class| format!(" ({class})"));
    let (what, asked) = (superlative(ranking.workload), in_words(&ranking.handling.conditions()));
    format!("{what} at {size}, placement {place}{class}{asked}: {}", best_of(ranking))
}

const fn superlative(workload: Kind) -> &'static str {
    match workload {
        Kind::RoundTrip => "Shortest round trip",
        Kind::RequestReply => "Shortest request and reply",
        Kind::Stream => "Highest bandwidth",
    }
}

/// Who is best at what, with its figure and its lead; the place is told elsewhere.
pub(crate) fn ranked_in_words(ranking: &Ranking) -> String {
    format!("{}: {}", superlative(ranking.workload).to_lowercase(), best_of(ranking))
}

/// Where the parties of a comparison ran.
pub(crate) fn place_of(ranking: &Ranking) -> String {
    let place = match ranking.placement.as_str() {
        "same" => "Both parties on one CPU".to_owned(),
        "split" => "A CPU for each party".to_owned(),
        other => format!("Placement {other}"),
    };
    let asked = in_words(&ranking.handling.conditions());
    match &ranking.class {
        Some(class) => format!("{place} ({class} apart, a cache line there and back){asked}"),
        None => format!("{place}{asked}"),
    }
}

/// The best with its figure and its lead.
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
    format!("{best}, {lead}.{elsewhere}")
}

/// A contender with its figure: its median, or the modes it has instead.
fn figure(contender: &Contender, workload: Kind) -> String {
    let unit = |value| match workload {
        Kind::RoundTrip | Kind::RequestReply => units::time(value),
        Kind::Stream => units::bandwidth(value),
    };
    let Contender { name, median, modes, .. } = contender;
    if modes.is_empty() {
        return format!("{name}, {}", unit(*median));
    }
    let modes = modes.iter().map(|m| format!("{} at {}", units::percent(m.share), unit(m.median)));
    format!("{name}, {}", modes.collect::<Vec<_>>().join(" and "))
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

/// What a message costs where nothing moves.
fn harness(summaries: &[CaseSummary]) -> Option<String> {
    let costs = summaries.iter().filter(|case| moves_nothing(&case.case.mechanism));
    let costs = costs.filter_map(CaseSummary::main).filter_map(|figure| match figure {
        Figure::PerMessage(spread) => Some(spread.median),
        _ => None,
    });
    let most = costs.fold(None, |most: Option<f64>, cost| Some(most.map_or(cost, |m| m.max(cost))));
    most.map(|cost| format!("The harness itself (null): at most {} a message.", units::time(cost)))
}

/// What did not run or went wrong, one line each.
pub(crate) fn closing_words<'a>(
    plan: &PlanRecord,
    failures: impl Iterator<Item = &'a FailedRun>,
) -> String {
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
    lines.map(|line| printable_line(&line).into_owned()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::sample;
    use crate::summary::summarise;

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
}
