//! `ipcperf trace`: one run of one case with instruments, and their observations.

use std::collections::{BTreeMap, BTreeSet};

use ipcperf_observe::INSTRUMENTS;
use ipcperf_results::{Results, ResultsLine, Sample};

use super::arguments::RunArguments;
use crate::cli::form::Form;
use crate::cli::session::{MeasuringCommand, execute, print_results, resolve};
use crate::error::{Error, ExitStatus};
use crate::printing::{print_json, print_message};
use ipcperf_plan::{Grouping, Plan, StoppingRule};
use ipcperf_report::terminal::closing_lines;

/// Instruments that are off by default in a trace: external tools that ours are compared with.
const EXTERNAL_TOOLS: [&str; 2] = ["strace", "bpftrace"];

pub(super) fn trace(arguments: &RunArguments) -> Result<ExitStatus, Error> {
    let plan = plan(arguments)?;
    let measured = execute(&plan, MeasuringCommand::Trace, &arguments.output)?;
    let form = arguments.output.printed.form();
    if !matches!(form, Form::Json | Form::QuietJson) {
        print_results(&measured.file, measured.status, form)?;
        return Ok(measured.status);
    }
    let results = &measured.file.results;
    let closing = closing_lines(&results.header.plan, results.failures.iter());
    if !closing.is_empty() {
        print_message(&closing.join("\n"));
    }
    print_json(&last_run_observations(results))?;
    Ok(measured.status)
}

fn plan(arguments: &RunArguments) -> Result<Plan, Error> {
    let plan = resolve(&arguments.matrix, |request| {
        request.grouping = Grouping::Together;
        request.stopping_rule = StoppingRule::Repetitions(1);
        if request.instruments.is_empty() {
            request.instruments = INSTRUMENTS
                .iter()
                .filter(|one| !EXTERNAL_TOOLS.contains(&one.facts.name))
                .collect();
        }
    })?;
    let watched = plan.cases.iter().filter(|case| case.instruments.twin_of.is_none());
    let watched = watched.map(|case| case.case_name().cell).collect::<BTreeSet<_>>().len();
    if watched > 1 {
        let words = format!(
            "trace runs one case, but these arguments describe {watched} cases; to observe several, use ipcperf run \
             --instrument NAMES"
        );
        return Err(Error::usage(words));
    }
    Ok(plan)
}

/// Returns the observations of the valid run: the last one, or the last of each part if not all could be observed at
/// once.
fn last_run_observations(results: &Results) -> Vec<ResultsLine> {
    let is_watched = |sample: &&Sample| sample.twin_of.is_none() && !sample.instruments.is_empty();
    let watched = results.samples.iter().filter(is_watched);
    let last: BTreeMap<&str, &str> =
        watched.map(|sample| (&*sample.run.case.case_id, &*sample.run.run_id)).collect();
    let seen =
        results.observations.iter().filter(|one| last.values().any(|run| *run == one.run_id));
    seen.cloned().map(ResultsLine::Observation).collect()
}
