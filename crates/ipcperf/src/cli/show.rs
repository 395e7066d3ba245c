//! `ipcperf show`.

use serde_json::Value;

use super::arguments::ShowArguments;
use crate::error::{Ending, Error};
use crate::output::{closing_words, print, survey_words, tables, tell};
use crate::results::{Results, read};
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
        parts.push(format!("{}\n{}", path.display(), page(&results, &of_file)));
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
    summarise(&plan.cases, &plan.refused, &results.samples, &results.failures)
}

fn page(results: &Results, summaries: &[CaseSummary]) -> String {
    let header = &results.header;
    let machine = format!("{}; {}", header.environment.in_one_line(), header.started);
    let closing = closing_words(&header.plan.unavailable, &results.failures);
    let parts = [machine, tables(summaries), survey_words(summaries), closing];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Summaries for scripts.
pub(super) fn summaries_json(summaries: &[CaseSummary]) -> String {
    let values = summaries.iter().map(|summary| serde_json::to_value(summary).unwrap_or_default());
    format!("{:#}", Value::Array(values.collect()))
}
