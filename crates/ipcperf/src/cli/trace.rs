//! `ipcperf trace`: one run of one case with instruments, and their observations.

use std::collections::BTreeSet;

use ipcperf_observe::INSTRUMENTS;
use ipcperf_results::analysis::traced_runs;
use ipcperf_results::{Results, ResultsLine};

use super::arguments::RunArguments;
use super::show::heading;
use crate::cli::form::Form;
use crate::cli::session::{MeasuringCommand, SessionResult, execute, print_results, resolve};
use crate::error::{Error, ExitStatus};
use crate::printing::{print, print_json, print_message};
use ipcperf_plan::{Grouping, Plan, StoppingRule};
use ipcperf_report::terminal::{closing_lines, columns, trace_screen, wrap};

/// Instruments that are off by default in a trace: external tools that ours are compared with.
const EXTERNAL_TOOLS: [&str; 2] = ["strace", "bpftrace"];

/// Maximum number of lines that a trace prints, including those on unavailable instruments.
const MAX_LINES: usize = 60;

pub(super) fn trace(arguments: &RunArguments) -> Result<ExitStatus, Error> {
    let plan = plan(arguments)?;
    let measured = execute(&plan, MeasuringCommand::Trace, &arguments.output)?;
    match arguments.output.printed.form() {
        Form::Tables => print_screen(&measured)?,
        Form::Quiet => print_results(&measured.file, measured.status, Form::Quiet)?,
        Form::Json | Form::QuietJson => print_observations(&measured.file.results)?,
    }
    Ok(measured.status)
}

fn plan(arguments: &RunArguments) -> Result<Plan, Error> {
    if arguments.matrix.sets_repetitions() {
        let words = "trace runs its case once, without --repetitions, --until-ci, --max-repetitions and --max-time; to \
                     observe several runs, use ipcperf run --instrument NAMES";
        return Err(Error::usage(words));
    }
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

/// Prints on one screen what the instruments observed; if no run was observed, prints the usual tables. Then prints
/// what is unavailable or failed.
fn print_screen(measured: &SessionResult) -> Result<(), Error> {
    let (file, columns) = (&measured.file, columns());
    let heading = wrap(&heading(&file.results.header), columns);
    let closing = wrap(&closing_text(&file.results), columns);
    let others = heading.lines().count() + 1 + closing.lines().count();
    match trace_screen(file, columns, MAX_LINES.saturating_sub(others)) {
        Some(screen) => {
            print(&format!("{heading}\n\n{screen}"))?;
            // The screen names the file already, so only what went wrong is left to print.
            print_results(file, measured.status, Form::Quiet)
        }
        None => print_results(file, measured.status, Form::Tables),
    }
}

/// Prints all observations of the traced runs as JSON.
fn print_observations(results: &Results) -> Result<(), Error> {
    let closing = closing_text(results);
    if !closing.is_empty() {
        print_message(&closing);
    }
    let observed = traced_runs(results).into_iter().flat_map(|run| run.observations);
    let lines: Vec<ResultsLine> = observed.cloned().map(ResultsLine::Observation).collect();
    print_json(&lines)?;
    Ok(())
}

fn closing_text(results: &Results) -> String {
    closing_lines(&results.header.plan, results.failures.iter()).join("\n")
}
