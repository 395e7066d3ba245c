//! Formats warnings about a results file that is incomplete or was changed.

use super::missing::Missing;
use super::order::Sorted;

/// Maximum number of gaps between line numbers that are named.
const MOST_GAPS: usize = 5;

/// Warns of unreadable lines: describes the first ones and counts the rest.
pub(super) fn of_bad(some: &[String], count: u64) -> Vec<String> {
    let mut words: Vec<String> =
        some.iter().map(|words| format!("{words}; it was left out")).collect();
    let more = count - some.len() as u64;
    if more > 0 {
        words.push(format!("{} cannot be read either and were left out", lines(more)));
    }
    words
}

/// Warns of lines that are duplicated, missing, or without their run.
pub(super) fn of_lines(sorted: &Sorted) -> Vec<String> {
    let mut words = Vec::new();
    if sorted.duplicates > 0 {
        let what =
            if sorted.duplicates == 1 { "duplicated line was" } else { "duplicated lines were" };
        words.push(format!("{} {what} ignored", sorted.duplicates));
    }
    let resumed = sorted.footer.as_ref().map_or(0, |footer| footer.lost_lines);
    let (lost, gaps) = (sorted.tally.lost_lines, gaps(&sorted.gaps));
    if lost > resumed {
        let verb = if lost == 1 { "is" } else { "are" };
        words.push(format!("{} {verb} missing ({gaps})", lines(lost)));
    } else if lost > 0 {
        words.push(format!("{} were lost ({gaps}) before it was resumed", lines(lost)));
    }
    if sorted.orphans > 0 {
        let count = sorted.orphans;
        words.push(format!("{count} observations of runs without a line were left out"));
    }
    words
}

/// Warns of counts in the footer that differ from those of the lines above it. Call it for a file that is whole: where
/// lines are missing, they differ anyway.
pub(super) fn of_footer(sorted: &Sorted) -> Option<String> {
    let (footer, tally) = (sorted.footer.as_ref()?, sorted.tally);
    let observations = footer.observations.unwrap_or(tally.observations);
    let counted = (footer.samples, observations, footer.failures);
    let there = (tally.samples, tally.observations, tally.failures);
    (counted != there).then(|| {
        let words = |(samples, observations, failures): (u64, u64, u64)| {
            format!("{samples} samples, {observations} observations and {failures} failures")
        };
        format!("the footer counts {}; the file has {}", words(counted), words(there))
    })
}

/// Warns of runs whose case is not in the plan.
pub(super) fn of_strays((count, case): &(u64, Option<String>)) -> Option<String> {
    let case = case.as_ref()?;
    let what = if *count == 1 { "run is of a case" } else { "runs are of cases" };
    Some(format!("{count} {what} that the plan does not have, such as `{case}`"))
}

/// Warns of runs of the plan without a line.
pub(super) fn of_missing(missing: &Missing) -> Option<String> {
    let Missing { count, planned, some } = missing;
    let some: Vec<String> =
        some.iter().map(|(case, block)| format!("{case} in block {block}")).collect();
    let runs = if *count == 1 { "run has" } else { "runs have" };
    let some = some.join(", ");
    (*count > 0).then(|| {
        format!(
            "{count} {runs} no line, of {planned} ({some}); ipcperf resume makes what is missing"
        )
    })
}

fn lines(count: u64) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

fn gaps(gaps: &[(u64, u64)]) -> String {
    let one = |(first, last): &(u64, u64)| match last - first {
        0 => first.to_string(),
        _ => format!("{first} to {last}"),
    };
    let mut words: Vec<String> = gaps.iter().take(MOST_GAPS).map(one).collect();
    if gaps.len() > MOST_GAPS {
        words.push("...".to_owned());
    }
    let what = if gaps.len() == 1 && gaps[0].0 == gaps[0].1 { "number" } else { "numbers" };
    format!("{what} {}", words.join(", "))
}
