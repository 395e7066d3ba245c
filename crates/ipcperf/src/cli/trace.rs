//! `ipcperf trace`: one run of one case with instruments, and their observations.

use std::collections::{BTreeMap, BTreeSet};

use ipcperf_observe::INSTRUMENTS;
use ipcperf_results::{Line, Results, Sample};

use super::arguments::RunArguments;
use crate::cli::form::Form;
use crate::cli::session::{Measuring, carry_out, present, resolve};
use crate::error::{Ending, Error};
use crate::printing::{print_json, tell};
use ipcperf_plan::{Enough, Grouping, Plan};
use ipcperf_report::terminal::closing_lines;

/// Instruments that are off by default in a trace: external tools that ours are compared with.
const COMPARISONS: [&str; 2] = ["strace", "bpftrace"];

pub(super) fn trace(arguments: &RunArguments) -> Result<Ending, Error> {
    let plan = plan(arguments)?;
    let measured = carry_out(&plan, Measuring::Trace, &arguments.output)?;
    let form = arguments.output.printed.form();
    if !matches!(form, Form::Json | Form::QuietJson) {
        present(&measured.file, measured.ending, form)?;
        return Ok(measured.ending);
    }
    let results = &measured.file.results;
    let closing = closing_lines(&results.header.plan, results.failures.iter());
    if !closing.is_empty() {
        tell(&closing.join("\n"));
    }
    print_json(&of_last_run(results))?;
    Ok(measured.ending)
}

fn plan(arguments: &RunArguments) -> Result<Plan, Error> {
    let plan = resolve(&arguments.matrix, |request| {
        request.grouping = Grouping::Together;
        request.enough = Enough::Repetitions(1);
        if request.instruments.is_empty() {
            request.instruments =
                INSTRUMENTS.iter().filter(|one| !COMPARISONS.contains(&one.facts.name)).collect();
        }
    })?;
    let watched = plan.cases.iter().filter(|case| case.watched.twin_of.is_none());
    let watched = watched.map(|case| case.case_name().cell).collect::<BTreeSet<_>>().len();
    if watched > 1 {
        let words = format!(
            "trace watches one case, and this makes {watched}; ipcperf run --instrument watches many"
        );
        return Err(Error::usage(words));
    }
    Ok(plan)
}

/// Returns the observations of the valid run: the last one, or the last of each part if not all could be observed at
/// once.
fn of_last_run(results: &Results) -> Vec<Line> {
    let is_watched = |sample: &&Sample| sample.twin_of.is_none() && !sample.instruments.is_empty();
    let watched = results.samples.iter().filter(is_watched);
    let last: BTreeMap<&str, &str> =
        watched.map(|sample| (&*sample.run.case.case_id, &*sample.run.run_id)).collect();
    let seen =
        results.observations.iter().filter(|one| last.values().any(|run| *run == one.run_id));
    seen.cloned().map(Line::Observation).collect()
}
