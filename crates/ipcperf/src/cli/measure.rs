//! `ipcperf survey`, `ipcperf run` and `ipcperf plan`: from what was asked to what is shown.

use ipcperf_engine::TouchCheck;
use ipcperf_engine::placement::Topology;
use serde_json::json;

use super::arguments::{
    MatrixArguments, OutputArguments, PlanArguments, RunArguments, SurveyArguments,
};
use super::show::{heading, page, summaries_json};
use crate::error::{Ending, Error};
use crate::machine::{Environment, Severity, Warning, warnings};
use crate::output::{Progress, Visibility, closing_words, plan_table, print, tell, warning_line};
use crate::plan::{Plan, Request, SurveyLength};
use crate::results::{Header, Overwrite, PlanRecord, SCHEMA, Writer, default_path};
use crate::runner::{self, Outcome};
use crate::summary::summarise;

/// Which command measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measuring {
    Survey(SurveyLength),
    Cases,
}

impl Measuring {
    /// The command's word, which names the results file.
    const fn name(self) -> &'static str {
        match self {
            Self::Survey(_) => "survey",
            Self::Cases => "run",
        }
    }
}

pub(super) fn survey(arguments: &SurveyArguments) -> Result<Ending, Error> {
    let length = if arguments.quick { SurveyLength::Quick } else { SurveyLength::Full };
    let plan = Plan::resolve(&Request::survey(length), &topology()?)?;
    carry_out(&plan, Measuring::Survey(length), &arguments.output)
}

pub(super) fn run(arguments: &RunArguments) -> Result<Ending, Error> {
    let plan = resolve(&arguments.matrix)?;
    carry_out(&plan, Measuring::Cases, &arguments.output)
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

fn carry_out(plan: &Plan, measuring: Measuring, output: &OutputArguments) -> Result<Ending, Error> {
    let path = output.out.clone().map_or_else(|| default_path(measuring.name()), Ok)?;
    let overwrite = if output.force { Overwrite::Replace } else { Overwrite::Refuse };
    let header = header(plan, measuring);
    let heading = heading(&header);
    let environment = header.environment.clone();
    let mut writer = Writer::create(path, overwrite, header)?;
    let visibility = if output.quiet { Visibility::Quiet } else { Visibility::OnTerminal };
    if visibility == Visibility::OnTerminal {
        tell_what_distorts(&environment);
    }
    let mut progress = Progress::over(plan.runs(), visibility);
    let record = PlanRecord::of(plan);
    let outcome = runner::run(plan, &mut writer, &mut progress)?;
    present(&outcome, &record, output, heading)?;
    if !output.quiet {
        let kept = outcome.samples.len();
        tell(&format!("{kept} samples in {0}; again: ipcperf show {0}", writer.path().display()));
    }
    Ok(outcome.ending)
}

fn header(plan: &Plan, measuring: Measuring) -> Header {
    Header {
        schema: SCHEMA,
        command: std::env::args().skip(1).collect(),
        quick: measuring == Measuring::Survey(SurveyLength::Quick),
        study: None,
        study_hash: None,
        seed: plan.seed,
        started: jiff::Timestamp::now().to_string(),
        plan: PlanRecord::of(plan),
        environment: Environment::read(),
        limits: None,
    }
}

/// What makes figures come out other than they would is told before there are any.
fn tell_what_distorts(environment: &Environment) {
    let grave = |warning: &Warning| warning.severity() == Severity::Distorts;
    for warning in warnings(environment).iter().filter(|warning| grave(warning)) {
        tell(&warning_line(warning));
    }
}

fn present(
    outcome: &Outcome,
    plan: &PlanRecord,
    output: &OutputArguments,
    heading: String,
) -> Result<Ending, Error> {
    let summaries = summarise(&plan.cases, &plan.refused, &outcome.samples, &outcome.failures);
    if output.json {
        print(&summaries_json(&summaries))?;
    } else if !output.quiet {
        print(&page(heading, &summaries))?;
    }
    let closing = closing_words(&plan.unavailable, &outcome.failures);
    if !closing.is_empty() {
        tell(&closing);
    }
    if outcome.ending == Ending::Interrupted {
        tell("ipcperf: interrupted; what was measured is kept");
    }
    Ok(Ending::Done)
}
