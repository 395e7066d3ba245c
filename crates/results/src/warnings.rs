//! Formats warnings about a results file that is incomplete or was changed.

use super::line_checker::CheckedLines;
use super::missing::MissingRuns;

/// Maximum number of gaps between line numbers that are named.
const MAX_GAPS: usize = 5;

/// Warns of unreadable lines: describes the first ones and counts the rest.
pub(super) fn warn_of_bad_lines(some: &[String], count: u64) -> Vec<String> {
    let mut words: Vec<String> =
        some.iter().map(|words| format!("{words}; the line was ignored")).collect();
    let more = count - some.len() as u64;
    if more > 0 {
        words.push(format!("another {} cannot be parsed and were ignored", count_lines(more)));
    }
    words
}

/// Warns of lines that are duplicated, missing, or without their run.
pub(super) fn warn_of_line_errors(sorted: &CheckedLines) -> Vec<String> {
    let mut words = Vec::new();
    if sorted.duplicates > 0 {
        let what =
            if sorted.duplicates == 1 { "duplicated line was" } else { "duplicated lines were" };
        words.push(format!("{} {what} ignored", sorted.duplicates));
    }
    let resumed = sorted.footer.as_ref().map_or(0, |footer| footer.lost_lines);
    let (lost, gaps) = (sorted.tally.lost_lines, format_gaps(&sorted.gaps));
    if lost > resumed {
        let verb = if lost == 1 { "is" } else { "are" };
        words.push(format!("{} {verb} missing ({gaps})", count_lines(lost)));
    } else if lost > 0 {
        words.push(format!(
            "{} were lost ({gaps}) before the measurement was resumed",
            count_lines(lost)
        ));
    }
    if sorted.orphans > 0 {
        let count = sorted.orphans;
        words.push(format!(
            "{count} observations were ignored, because the lines of their runs are missing"
        ));
    }
    words
}

/// Warns of counts in the footer that differ from those of the lines above it. Call it for a file that is whole: where
/// lines are missing, they differ anyway.
pub(super) fn of_footer(sorted: &CheckedLines) -> Option<String> {
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
pub(super) fn warn_of_unplanned_runs((count, case): &(u64, Option<String>)) -> Option<String> {
    let case = case.as_ref()?;
    let what = if *count == 1 { "run belongs to a case" } else { "runs belong to cases" };
    Some(format!("{count} {what} that the plan does not contain, such as `{case}`"))
}

/// Warns of runs of the plan without a line.
pub(super) fn warn_of_missing_runs(missing: &MissingRuns) -> Option<String> {
    let MissingRuns { count, planned, examples: some } = missing;
    let some: Vec<String> =
        some.iter().map(|(case, block)| format!("{case} in block {block}")).collect();
    let runs = if *count == 1 { "run is" } else { "runs are" };
    let some = some.join(", ");
    (*count > 0).then(|| {
        format!(
            "{count} {runs} missing, of {planned} planned ({some}); ipcperf resume executes the missing runs"
        )
    })
}

fn count_lines(count: u64) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

fn format_gaps(gaps: &[(u64, u64)]) -> String {
    let one = |(first, last): &(u64, u64)| match last - first {
        0 => first.to_string(),
        _ => format!("{first} to {last}"),
    };
    let mut words: Vec<String> = gaps.iter().take(MAX_GAPS).map(one).collect();
    if gaps.len() > MAX_GAPS {
        words.push("...".to_owned());
    }
    let what = if gaps.len() == 1 && gaps[0].0 == gaps[0].1 { "number" } else { "numbers" };
    format!("{what} {}", words.join(", "))
}
