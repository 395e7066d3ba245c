//! `ipcperf show`.

use std::path::Path;

use serde_json::Value;

use super::arguments::ShowArguments;
use crate::error::{Ending, Error};
use crate::output::{Beside, closing_words, notes, print, survey_words, tables, tell};
use crate::plan::Precision;
use crate::results::{Header, Results, Sample, read};
use crate::summary::{CaseSummary, summarise};

pub(super) fn show(arguments: &ShowArguments) -> Result<Ending, Error> {
    let mut parts = Vec::new();
    let mut summaries = Vec::new();
    for path in &arguments.files {
        let results = read(path)?;
        for warning in &results.warnings {
            tell(&format!("ipcperf: warning: {}: {warning}", path.display()));
        }
        let of_file = of_results(&results);
        parts.push(whole_page(path, &results, &of_file));
        summaries.extend(of_file);
    }
    if arguments.json {
        return print(&summaries_json(&summaries));
    }
    print(&parts.join("\n\n"))
}

/// One summary for each case of a file.
fn of_results(results: &Results) -> Vec<CaseSummary> {
    let plan = &results.header.plan;
    summarise(
        &plan.cases,
        &plan.refused,
        &results.samples,
        &results.failures,
        results.header.limits.as_ref(),
    )
}

fn whole_page(path: &Path, results: &Results, summaries: &[CaseSummary]) -> String {
    let header = &results.header;
    let heading = format!("{}, {}\n{}", path.display(), header.started, heading(header));
    let closing = closing_words(&header.plan.unavailable, &results.failures);
    let page = page(heading, summaries, &results.samples, header.plan.until_ci);
    if closing.is_empty() { page } else { format!("{page}\n\n{closing}") }
}

/// The machine, and what a reader must know of how it was measured.
pub(super) fn heading(header: &Header) -> String {
    let machine = header.environment.in_one_line();
    if header.quick {
        return format!("{machine}\nQuick survey: every second size only.");
    }
    machine
}

/// Heading, tables, the findings in words, and what to know before believing them.
pub(super) fn page(
    heading: String,
    summaries: &[CaseSummary],
    samples: &[Sample],
    precision: Option<Precision>,
) -> String {
    let beside = if precision.is_some() { Beside::Interval } else { Beside::Spread };
    let mut parts = vec![heading, tables(summaries, beside), survey_words(summaries)];
    parts.extend(notes(summaries, samples, precision));
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Summaries for scripts.
pub(super) fn summaries_json(summaries: &[CaseSummary]) -> String {
    let values = summaries.iter().map(|summary| serde_json::to_value(summary).unwrap_or_default());
    format!("{:#}", Value::Array(values.collect()))
}
