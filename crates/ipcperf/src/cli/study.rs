//! `ipcperf study`: questions and hypotheses stated beforehand, from the study file to the verdicts.

use std::io::Write;
use std::path::Path;

use ipcperf_results::Strictness;
use ipcperf_results::analysis::AnalyzedFile;
use serde_json::json;

use super::arguments::{
    JudgeArguments, NewArguments, StudyArguments, StudyCheckArguments, StudyCommand,
    StudyListArguments, StudyPlanArguments, StudyRunArguments, StudySelection, StudyShowArguments,
};
use super::custom_permission::CustomArguments;
use super::report;
use crate::cli::results_input::read_file;
use crate::cli::session::{
    MeasuringCommand, execute, print_plan, print_plan_json, print_results, topology,
};
use crate::error::{Error, ExitStatus};
use crate::printing::{print, print_json, print_message};
use ipcperf_plan::Plan;
use ipcperf_report::presentation::version_warning;
use ipcperf_report::terminal::{
    columns, studies_json, study_list, study_page, verdicts_json, verdicts_text,
};
use ipcperf_study::hypothesis::{JudgedClaim, Verdict, judge};
use ipcperf_study::{Length, Study, scaffold, schema};

pub(super) fn study(arguments: &StudyArguments) -> Result<ExitStatus, Error> {
    match &arguments.command {
        StudyCommand::List(arguments) => list(arguments),
        StudyCommand::Show(arguments) => show(arguments),
        StudyCommand::New(arguments) => new(arguments),
        StudyCommand::Check(arguments) => check(arguments),
        StudyCommand::Plan(arguments) => plan(arguments),
        StudyCommand::Run(arguments) => run(arguments),
        StudyCommand::Judge(arguments) => judge_file(arguments),
    }
}

fn list(arguments: &StudyListArguments) -> Result<ExitStatus, Error> {
    if arguments.json { print_json(&studies_json()) } else { print(&study_list(columns())) }
}

fn show(arguments: &StudyShowArguments) -> Result<ExitStatus, Error> {
    let Some(study) = &arguments.study else { return print_json(&schema()) };
    let study = Study::find(study)?;
    if arguments.toml {
        print(study.text.trim_end())
    } else {
        print(&study_page(&study, columns()))
    }
}

fn new(arguments: &NewArguments) -> Result<ExitStatus, Error> {
    let path = &arguments.file;
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let name: String = stem.chars().filter(|letter| fits(*letter)).take(100).collect();
    let name = if name.is_empty() { "my-study".to_owned() } else { name };
    let unwritten = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Error::usage(format!("{} already exists; name another file", path.display()))
        }
        _ => Error::NotWritten { path: path.clone(), source },
    };
    let mut file = std::fs::File::create_new(path).map_err(unwritten)?;
    file.write_all(scaffold(&name).as_bytes()).map_err(unwritten)?;
    let path = path.display();
    print(&format!("created {path}; edit it, then: ipcperf study check {path}"))
}

fn check(arguments: &StudyCheckArguments) -> Result<ExitStatus, Error> {
    match Study::find(&arguments.study) {
        Ok(study) if arguments.json => {
            print_json(&json!({ "study": study.name, "hash": study.hash, "mistakes": [] }))
        }
        Ok(study) => {
            let (matrices, claims) = (study.matrices.len(), study.hypotheses.len());
            let plural = |count: usize, one: &str, many: &str| {
                format!("{count} {}", if count == 1 { one } else { many })
            };
            let matrices = plural(matrices, "matrix", "matrices");
            let claims = plural(claims, "hypothesis", "hypotheses");
            print(&format!("{}: no mistakes; {matrices}, {claims}", study.name))
        }
        Err(ipcperf_study::Error::InvalidStudy { mistakes, .. }) if arguments.json => {
            print_json(&json!({ "mistakes": mistakes }))?;
            Err(Error::AlreadyReported)
        }
        Err(error) => Err(error.into()),
    }
}

fn plan(arguments: &StudyPlanArguments) -> Result<ExitStatus, Error> {
    let (_, _, plan) = selected(&arguments.part)?;
    if arguments.json { print_plan_json(&plan) } else { print_plan(&plan) }
}

/// Returns the requested part of a study, its length and its plan.
fn selected(arguments: &StudySelection) -> Result<(Study, Length, Plan), Error> {
    let study = Study::find(&arguments.study)?.with_only(&arguments.only)?;
    let length = arguments.length();
    check_permission(&study, &arguments.study, arguments.custom)?;
    let plan = study.plan(length, &topology()?)?;
    let plan = if arguments.until_decided { plan.until_decided()? } else { plan };
    Ok((study, length, plan))
}

/// Returns the plan of the study with the name or path `name`.
pub(super) fn plan_of(name: &str, length: Length, custom: CustomArguments) -> Result<Plan, Error> {
    let study = Study::find(name)?;
    check_permission(&study, name, custom)?;
    Ok(study.plan(length, &topology()?)?)
}

/// Checks that the custom mechanisms of `study`, found as `name`, may be run.
fn check_permission(study: &Study, name: &str, custom: CustomArguments) -> Result<(), Error> {
    custom.check_permission(Path::new(name), study.origin, &study.custom_programs())
}

fn run(arguments: &StudyRunArguments) -> Result<ExitStatus, Error> {
    let (study, length, plan) = selected(&arguments.part)?;
    if let Some(report) = &arguments.report {
        report::check_page(report)?;
    }
    let measured = execute(&plan, MeasuringCommand::Study(&study, length), &arguments.output)?;
    let form = arguments.output.printed.form();
    print_results(&measured.file, measured.status, form)?;
    if let Some(report) = &arguments.report {
        form.print_message(&report::write(
            std::slice::from_ref(&measured.file),
            None,
            report,
            None,
        )?);
    }
    Ok(measured.status)
}

/// Returns the study that `file` was measured for: the one `given`, or the one stored in the results.
///
/// # Errors
/// Returns a usage error if none is given and the results have none. Also fails if the study has mistakes.
fn study_of(file: &AnalyzedFile, given: Option<&str>) -> Result<Study, Error> {
    if let Some(name) = given {
        let study = Study::find(name)?;
        if let Some(words) = version_warning(&study, file) {
            print_message(&format!("ipcperf: warning: {words}"));
        }
        return Ok(study);
    }
    let text = file.results.header.study_text.as_deref().ok_or_else(|| {
        let path = file.path.display();
        Error::usage(format!(
            "the results in {path} were not measured for a study; name a study with --study"
        ))
    })?;
    let study = Study::parse(text)
        .map_err(|mistakes| Error::InvalidStudy { path: file.path.clone(), mistakes })?;
    Ok(study.with_only(&file.results.header.study_only)?)
}

fn judge_file(arguments: &JudgeArguments) -> Result<ExitStatus, Error> {
    let file = read_file(&arguments.file, Strictness::Lenient)?;
    let study = study_of(&file, arguments.study.as_deref())?;
    let judged = judge(&study, &file.results);
    if arguments.json {
        print_json(&verdicts_json(&judged))?;
    } else {
        print(&verdicts_text(&judged, columns()))?;
    }
    if arguments.gate && !passes(&judged) {
        Ok(ExitStatus::GateFailed)
    } else {
        Ok(ExitStatus::Done)
    }
}

/// Whether the gate passes: at least one hypothesis could be judged, and all that could be are supported.
fn passes(judged: &[JudgedClaim<'_>]) -> bool {
    let is_open =
        |one: &&JudgedClaim<'_>| !matches!(one.findings.verdict, Verdict::NotTestable { .. });
    let mut tested = judged.iter().filter(is_open).peekable();
    tested.peek().is_some() && tested.all(|one| one.findings.verdict == Verdict::Supported)
}
