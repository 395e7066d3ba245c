//! `ipcperf survey`, `ipcperf run` and `ipcperf plan`.

use ipcperf_plan::{Plan, Request, SurveyLength};

use super::arguments::{PlanArguments, RunArguments, SurveyArguments};
use super::session::{
    MeasuringCommand, execute, print_plan, print_plan_json, print_results, print_survey, resolve,
    topology,
};
use super::{report, study};
use crate::error::{Error, ExitStatus};

pub(super) fn survey(arguments: &SurveyArguments) -> Result<ExitStatus, Error> {
    let length = if arguments.quick { SurveyLength::Quick } else { SurveyLength::Full };
    let plan = Plan::resolve(&Request::survey(length), &topology()?)?;
    if let Some(report) = &arguments.report {
        report::check_page(report)?;
    }
    let measured = execute(&plan, MeasuringCommand::Survey(length), &arguments.output)?;
    print_survey(&measured.file, measured.status, arguments.output.printed.form())?;
    if let Some(report) = &arguments.report {
        let message = report::write(std::slice::from_ref(&measured.file), None, report, None)?;
        arguments.output.printed.form().print_message(&message);
    }
    Ok(measured.status)
}

pub(super) fn run(arguments: &RunArguments) -> Result<ExitStatus, Error> {
    let plan = resolve(&arguments.matrix, |_| ())?;
    let measured = execute(&plan, MeasuringCommand::Cases, &arguments.output)?;
    print_results(&measured.file, measured.status, arguments.output.printed.form())?;
    Ok(measured.status)
}

pub(super) fn plan(arguments: &PlanArguments) -> Result<ExitStatus, Error> {
    arguments.check_subject()?;
    let plan = match &arguments.study {
        Some(name) => study::plan_of(name, arguments.length(), arguments.custom)?,
        None => resolve(&arguments.matrix, |_| ())?,
    };
    if arguments.json { print_plan_json(&plan) } else { print_plan(&plan) }
}
