//! `ipcperf survey`, `ipcperf run` and `ipcperf plan`: from what was asked to what is shown.

use ipcperf_engine::TouchCheck;
use ipcperf_engine::placement::Topology;
use serde_json::json;

use super::arguments::{
    MatrixArguments, OutputArguments, PlanArguments, RunArguments, SurveyArguments,
};
use super::show::summaries_json;
use crate::error::{Ending, Error};
use crate::machine::Environment;
use crate::output::{
    Progress, Visibility, closing_words, plan_table, print, survey_words, tables, tell,
};
use crate::plan::{Plan, Request, SurveyLength};
use crate::results::{Header, Overwrite, PlanRecord, SCHEMA, Writer, default_path};
use crate::runner::{self, Outcome};
use crate::summary::summarise;

/// Whether the findings are put into words below the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Telling {
    Tables,
    TablesAndFindings,
}

pub(super) fn survey(arguments: &SurveyArguments) -> Result<Ending, Error> {
    let length = if arguments.quick { SurveyLength::Quick } else { SurveyLength::Full };
    let plan = Plan::resolve(&Request::survey(length), &topology()?)?;
    carry_out(&plan, "survey", &arguments.output, Telling::TablesAndFindings)
}

pub(super) fn run(arguments: &RunArguments) -> Result<Ending, Error> {
    let plan = resolve(&arguments.matrix)?;
    carry_out(&plan, "run", &arguments.output, Telling::Tables)
}

pub(super) fn plan(arguments: &PlanArguments) -> Result<Ending, Error> {
    let plan = resolve(&arguments.matrix)?;
    if !arguments.json {
        return print(&plan_table(&plan));
    }
    let mut object = json!(PlanRecord::of(&plan));
    object["seed"] = json!(plan.seed);
    object["runs"] = json!(plan.runs());
    object["estimated_s"] = json!(plan.estimate().as_secs_f64());
    print(&format!("{object:#}"))
}

fn resolve(matrix: &MatrixArguments) -> Result<Plan, Error> {
    let check = if matrix.verify { TouchCheck::Verify } else { TouchCheck::Off };
    Plan::resolve(&Request::parse(&matrix.typed(), check)?, &topology()?)
}

fn topology() -> Result<Topology, Error> {
    Topology::read()
        .map_err(|errno| Error::Machine(format!("cannot read which CPUs are allowed: {errno}")))
}

fn carry_out(
    plan: &Plan,
    command: &str,
    output: &OutputArguments,
    telling: Telling,
) -> Result<Ending, Error> {
    let path = output.out.clone().map_or_else(|| default_path(command), Ok)?;
    let overwrite = if output.force { Overwrite::Replace } else { Overwrite::Refuse };
    let header = header(plan);
    let machine = header.environment.in_one_line();
    let mut writer = Writer::create(path, overwrite, header)?;
    let visibility = if output.quiet { Visibility::Quiet } else { Visibility::OnTerminal };
    let mut progress = Progress::over(plan.runs(), visibility);
    let outcome = runner::run(plan, &mut writer, &mut progress)?;
    present(plan, &outcome, output, telling, &machine)?;
    if !output.quiet {
        let kept = outcome.samples.len();
        tell(&format!("{kept} samples in {0}; again: ipcperf show {0}", writer.path().display()));
    }
    Ok(outcome.ending)
}

fn header(plan: &Plan) -> Header {
    Header {
        schema: SCHEMA,
        command: std::env::args().skip(1).collect(),
        study: None,
        study_hash: None,
        seed: plan.seed,
        started: jiff::Timestamp::now().to_string(),
        plan: PlanRecord::of(plan),
        environment: Environment::read(),
        limits: None,
    }
}

fn present(
    plan: &Plan,
    outcome: &Outcome,
    output: &OutputArguments,
    telling: Telling,
    machine: &str,
) -> Result<Ending, Error> {
    let record = PlanRecord::of(plan);
    let summaries = summarise(&record.cases, &record.refused, &outcome.samples, &outcome.failures);
    let closing = closing_words(&record.unavailable, &outcome.failures);
    if output.json {
        print(&summaries_json(&summaries))?;
    } else if !output.quiet {
        let findings = match telling {
            Telling::Tables => String::new(),
            Telling::TablesAndFindings => survey_words(&summaries),
        };
        let parts = [machine.to_owned(), tables(&summaries), findings];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        print(&parts.join("\n\n"))?;
    }
    if !closing.is_empty() {
        tell(&closing);
    }
    if outcome.ending == Ending::Interrupted {
        tell("ipcperf: interrupted; what was measured is kept");
    }
    Ok(Ending::Done)
}
