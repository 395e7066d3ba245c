//! `ipcperf study`: questions and hypotheses stated beforehand, from the study file to the verdicts.

use std::io::Write;
use std::path::Path;

use ipcperf_results::Strictness;
use ipcperf_results::analysis::Summarised;
use serde_json::json;

use super::arguments::{
    JudgeArguments, NewArguments, StudyArguments, StudyCheckArguments, StudyCommand,
    StudyListArguments, StudyPart, StudyPlanArguments, StudyRunArguments, StudyShowArguments,
};
use super::custom::CustomArguments;
use super::export::check_writable;
use super::report;
use crate::cli::session::{Measuring, carry_out, present, print_plan, print_plan_json, topology};
use crate::cli::stored::read_file;
use crate::error::{Ending, Error};
use crate::printing::{print, print_json, tell};
use ipcperf_plan::Plan;
use ipcperf_report::presentation::other_version;
use ipcperf_report::terminal::{
    columns, studies_json, study_list, study_page, verdicts_json, verdicts_text,
};
use ipcperf_study::hypothesis::{Judged, Verdict, judge};
use ipcperf_study::{Length, Study, scaffold, schema};

pub(super) fn study(arguments: &StudyArguments) -> Result<Ending, Error> {
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

fn list(arguments: &StudyListArguments) -> Result<Ending, Error> {
    if arguments.json { print_json(&studies_json()) } else { print(&study_list(columns())) }
}

fn show(arguments: &StudyShowArguments) -> Result<Ending, Error> {
    let Some(study) = &arguments.study else { return print_json(&schema()) };
    let study = Study::find(study)?;
    if arguments.toml {
        print(study.text.trim_end())
    } else {
        print(&study_page(&study, columns()))
    }
}

fn new(arguments: &NewArguments) -> Result<Ending, Error> {
    let path = &arguments.file;
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let name: String = stem.chars().filter(|letter| fits(*letter)).take(100).collect();
    let name = if name.is_empty() { "my-study".to_owned() } else { name };
    let unwritten = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Error::usage(format!("{} is there already: name another file", path.display()))
        }
        _ => Error::NotWritten { path: path.clone(), source },
    };
    let mut file = std::fs::File::create_new(path).map_err(unwritten)?;
    file.write_all(scaffold(&name).as_bytes()).map_err(unwritten)?;
    let path = path.display();
    print(&format!("study in {path}; edit it, then: ipcperf study check {path}"))
}

fn check(arguments: &StudyCheckArguments) -> Result<Ending, Error> {
    match Study::find(&arguments.study) {
        Ok(study) if arguments.json => {
            print_json(&json!({ "study": study.name, "hash": study.hash, "mistakes": [] }))
        }
        Ok(study) => {
            let (matrices, claims) = (study.matrices.len(), study.hypotheses.len());
            let counted = |count: usize, one: &str, many: &str| {
                format!("{count} {}", if count == 1 { one } else { many })
            };
            let matrices = counted(matrices, "matrix", "matrices");
            let claims = counted(claims, "hypothesis", "hypotheses");
            print(&format!("{}: no mistakes; {matrices}, {claims}", study.name))
        }
        Err(ipcperf_study::Error::WrongStudy { mistakes, .. }) if arguments.json => {
            print_json(&json!({ "mistakes": mistakes }))?;
            Err(Error::Told)
        }
        Err(error) => Err(error.into()),
    }
}

fn plan(arguments: &StudyPlanArguments) -> Result<Ending, Error> {
    let (_, _, plan) = part(&arguments.part)?;
    if arguments.json { print_plan_json(&plan) } else { print_plan(&plan) }
}

/// Returns the requested part of a study, its length and its plan.
fn part(asked: &StudyPart) -> Result<(Study, Length, Plan), Error> {
    let study = Study::find(&asked.study)?.only(&asked.only)?;
    let length = asked.length();
    permit(&study, &asked.study, asked.custom)?;
    let plan = study.plan(length, &topology()?)?;
    let plan = if asked.until_decided { plan.until_decided()? } else { plan };
    Ok((study, length, plan))
}

/// Returns the plan of the study with the name or path `name`.
pub(super) fn plan_of(name: &str, length: Length, custom: CustomArguments) -> Result<Plan, Error> {
    let study = Study::find(name)?;
    permit(&study, name, custom)?;
    Ok(study.plan(length, &topology()?)?)
}

/// Checks that the custom mechanisms of `study`, found as `name`, may be run.
fn permit(study: &Study, name: &str, custom: CustomArguments) -> Result<(), Error> {
    custom.permit(Path::new(name), study.origin, &study.custom_mechanisms())
}

fn run(arguments: &StudyRunArguments) -> Result<Ending, Error> {
    let (study, length, plan) = part(&arguments.part)?;
    if let Some(report) = &arguments.report {
        check_writable(report)?;
    }
    let measured = carry_out(&plan, Measuring::Study(&study, length), &arguments.output)?;
    let form = arguments.output.printed.form();
    present(&measured.file, measured.ending, form)?;
    if let Some(report) = &arguments.report {
        form.tell(&report::write(std::slice::from_ref(&measured.file), None, report, None)?);
    }
    Ok(measured.ending)
}

/// Returns the study that `file` was measured for: the one `given`, or the one stored in the results.
///
/// # Errors
/// Returns a usage error if none is given and the results have none. Also fails if the study has mistakes.
fn study_of(file: &Summarised, given: Option<&str>) -> Result<Study, Error> {
    if let Some(name) = given {
        let study = Study::find(name)?;
        if let Some(words) = other_version(&study, file) {
            tell(&format!("ipcperf: warning: {words}"));
        }
        return Ok(study);
    }
    let text = file.results.header.study_text.as_deref().ok_or_else(|| {
        let path = file.path.display();
        Error::usage(format!("{path} was not measured for a study: name one with --study"))
    })?;
    let study = Study::read(text)
        .map_err(|mistakes| Error::WrongStudy { path: file.path.clone(), mistakes })?;
    Ok(study.only(&file.results.header.study_only)?)
}

fn judge_file(arguments: &JudgeArguments) -> Result<Ending, Error> {
    let file = read_file(&arguments.file, Strictness::Lenient)?;
    let study = study_of(&file, arguments.study.as_deref())?;
    let judged = judge(&study, &file.results);
    if arguments.json {
        print_json(&verdicts_json(&judged))?;
    } else {
        print(&verdicts_text(&judged, columns()))?;
    }
    if arguments.gate && !passes(&judged) { Ok(Ending::GateSaidNo) } else { Ok(Ending::Done) }
}

/// Whether the gate passes: at least one hypothesis could be judged, and all that could be are supported.
fn passes(judged: &[Judged<'_>]) -> bool {
    let is_open = |one: &&Judged<'_>| !matches!(one.found.verdict, Verdict::NotTestable { .. });
    let mut tested = judged.iter().filter(is_open).peekable();
    tested.peek().is_some() && tested.all(|one| one.found.verdict == Verdict::Supported)
}
