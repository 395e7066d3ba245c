//! `ipcperf survey`, `ipcperf run` and `ipcperf plan`.

use ipcperf_plan::{Plan, Request, SurveyLength};

use super::arguments::{PlanArguments, RunArguments, SurveyArguments};
use super::export::check_writable;
use super::session::{
    Measuring, carry_out, present, print_plan, print_plan_json, resolve, topology,
};
use super::{report, study};
use crate::error::{Ending, Error};

pub(super) fn survey(arguments: &SurveyArguments) -> Result<Ending, Error> {
    let length = if arguments.quick { SurveyLength::Quick } else { SurveyLength::Full };
    let plan = Plan::resolve(&Request::survey(length), &topology()?)?;
    if let Some(report) = &arguments.report {
        check_writable(report)?;
    }
    let measured = carry_out(&plan, Measuring::Survey(length), &arguments.output)?;
    present(&measured.file, measured.ending, arguments.output.printed.form())?;
    if let Some(report) = &arguments.report {
        let told = report::write(std::slice::from_ref(&measured.file), None, report, None)?;
        arguments.output.printed.form().tell(&told);
    }
    Ok(measured.ending)
}

pub(super) fn run(arguments: &RunArguments) -> Result<Ending, Error> {
    let plan = resolve(&arguments.matrix, |_| ())?;
    let measured = carry_out(&plan, Measuring::Cases, &arguments.output)?;
    present(&measured.file, measured.ending, arguments.output.printed.form())?;
    Ok(measured.ending)
}

pub(super) fn plan(arguments: &PlanArguments) -> Result<Ending, Error> {
    let plan = match &arguments.study {
        Some(name) => study::plan_of(name, arguments.length(), arguments.custom)?,
        None => resolve(&arguments.matrix, |_| ())?,
    };
    if arguments.json { print_plan_json(&plan) } else { print_plan(&plan) }
}
