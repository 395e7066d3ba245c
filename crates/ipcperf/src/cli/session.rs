//! Session of a measuring command: executes a plan, stores the results and prints them.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use ipcperf_engine::limits::{self, Effort};
use ipcperf_engine::placement::Topology;
use ipcperf_model::PayloadCheck;
use ipcperf_model::environment::Environment;
use ipcperf_results::analysis::AnalyzedFile;
use ipcperf_results::{Completeness, FileEnd, Header, Overwrite, Results, SCHEMA, Writer};
use serde_json::json;

use super::arguments::{MatrixArguments, OutputArguments};
use super::export::Exports;
use super::form::Form;
use super::show::{RequestedParts, heading, page, study_tables, verdicts};
use crate::build_info::environment;
use crate::error::{Error, ExitStatus, WriteStage};
use crate::printing::{Progress, Visibility, print, print_json, print_message, print_with};
use crate::runner::{self, Outcome, ResumeState, TimeBudget, default_path, plan_record};
use ipcperf_plan::machine::{Severity, Warning, warnings};
use ipcperf_plan::{Plan, Request, SurveyLength};
use ipcperf_report::export::JSON;
use ipcperf_report::terminal::{
    closing_lines, columns, plan_table, survey_screen, warning_line, wrap,
};
use ipcperf_study::hypothesis::decided_cases;
use ipcperf_study::{Length, Study};

/// Maximum number of sizes at which copies are measured.
const MAX_COPY_SIZES: usize = 8;

/// Command that measures.
#[derive(Clone, Copy, Debug)]
pub(super) enum MeasuringCommand<'a> {
    Survey(SurveyLength),
    Cases,
    Trace,
    Study(&'a Study, Length),
}

impl<'a> MeasuringCommand<'a> {
    /// Returns the effort for measuring the hardware limits; a full survey can afford more.
    const fn effort(self) -> Effort {
        match self {
            Self::Survey(SurveyLength::Full) => Effort::Thorough,
            Self::Study(_, Length::Full | Length::AsPublished) => Effort::Thorough,
            Self::Survey(SurveyLength::Quick) | Self::Study(..) | Self::Cases | Self::Trace => {
                Effort::Brief
            }
        }
    }

    /// Returns the name of the command, which becomes part of the name of the results file.
    fn name(self) -> &'a str {
        match self {
            Self::Survey(_) => "survey",
            Self::Study(study, _) => &study.name,
            Self::Cases => "run",
            Self::Trace => "trace",
        }
    }

    /// Whether a reduced set is measured.
    fn is_quick(self) -> bool {
        matches!(self, Self::Survey(SurveyLength::Quick) | Self::Study(_, Length::Quick))
    }

    /// Returns the time budget, which starts now.
    fn start_budget(self) -> TimeBudget {
        match self {
            Self::Survey(length) => TimeBudget::from_now(length.max_time()),
            Self::Study(..) | Self::Cases | Self::Trace => TimeBudget::Unlimited,
        }
    }

    fn study(self) -> Option<&'a Study> {
        match self {
            Self::Study(study, _) => Some(study),
            Self::Survey(_) | Self::Cases | Self::Trace => None,
        }
    }
}

/// Prints `plan` as a table.
pub(super) fn print_plan(plan: &Plan) -> Result<ExitStatus, Error> {
    print(&plan_table(plan, columns()))
}

/// Prints `plan` as a JSON object.
pub(super) fn print_plan_json(plan: &Plan) -> Result<ExitStatus, Error> {
    let mut object = json!(plan_record(plan));
    object["seed"] = json!(plan.seed);
    object["runs"] = json!(plan.runs());
    object["estimated_s"] = json!(plan.estimate().as_secs_f64());
    print_json(&object)
}

/// Parses the arguments and resolves them against this machine. `adapt` changes the request for commands other than
/// `run`.
pub(super) fn resolve(
    matrix: &MatrixArguments,
    adapt: impl FnOnce(&mut Request),
) -> Result<Plan, Error> {
    let check = if matrix.verify { PayloadCheck::Verify } else { PayloadCheck::Off };
    let mut request = Request::parse(&matrix.typed()?, check)?;
    adapt(&mut request);
    Ok(Plan::resolve(&request, &topology()?)?)
}

pub(super) fn topology() -> Result<Topology, Error> {
    Topology::read().map_err(|errno| {
        Error::Machine(format!("cannot read the CPU affinity of this process: {errno}"))
    })
}

/// Results of a session and the state in which it ended.
pub(super) struct SessionResult {
    pub(super) status: ExitStatus,
    pub(super) file: AnalyzedFile,
}

/// Executes `plan` and writes the results and exports.
pub(super) fn execute(
    plan: &Plan,
    measuring: MeasuringCommand<'_>,
    output: &OutputArguments,
) -> Result<SessionResult, Error> {
    let budget = measuring.start_budget();
    let exports = Exports::parse(&output.exports.export, output.out.as_deref())?;
    let path = output.out.clone().map_or_else(|| default_path(measuring.name()), Ok)?;
    let overwrite = if output.force { Overwrite::Replace } else { Overwrite::Refuse };
    overwrite.check(&path)?;
    let header = header(plan, measuring)?;
    let mut writer = Writer::create(path, overwrite, header.clone())
        .map_err(|error| Error::before_open(error, WriteStage::Create))?;
    let form = output.printed.form();
    if form.visibility() == Visibility::OnTerminal {
        print_distortions(&header.environment);
    }
    let mut progress = Progress::new(plan.runs(), form.visibility());
    let outcome = {
        let decided = decided_cases_of(measuring.study(), &header);
        runner::run(plan, ResumeState::default(), budget, &mut writer, &mut progress, &decided)?
    };
    let (ending, left_out) = (outcome.status, outcome.left_out);
    let file = analyzed_file(header, outcome, writer.path());
    exports.write(&file, form)?;
    if left_out > 0 {
        form.print_message(&format!(
            "{left_out} runs or retries did not fit into the time of a survey; to measure them: ipcperf resume {}",
            file.path.display()
        ));
    }
    Ok(SessionResult { status: ending, file })
}

/// Returns the results as a reader of the file at `path` would get them.
pub(super) fn analyzed_file(header: Header, outcome: Outcome, path: &Path) -> AnalyzedFile {
    AnalyzedFile::new(path, results(header, outcome))
}

/// Returns a function that finds the cases that no undecided hypothesis of `study` needs, given the results so far of
/// the run with `header`.
pub(super) fn decided_cases_of(
    study: Option<&Study>,
    header: &Header,
) -> impl Fn(&Outcome, u32) -> HashSet<String> {
    move |seen, repetitions| {
        let of = |study| decided_cases(study, &results(header.clone(), seen.clone()), repetitions);
        study.map_or_else(HashSet::new, of)
    }
}

fn results(header: Header, outcome: Outcome) -> Results {
    let end =
        if outcome.status == ExitStatus::Interrupted { FileEnd::Open } else { FileEnd::Closed };
    Results {
        header,
        samples: outcome.samples,
        peers: outcome.peers,
        observations: outcome.observations,
        failures: outcome.failures,
        footer: None,
        end,
        warnings: Vec::new(),
        end_warnings: Vec::new(),
        completeness: Completeness::default(),
    }
}

/// Returns the header of a results file. It includes the hardware limits, to which all figures are compared; measuring
/// them takes 0.1 s, or 2 s in a survey.
fn header(plan: &Plan, measuring: MeasuringCommand<'_>) -> Result<Header, Error> {
    let limits = limits::measure(&topology()?, &copy_sizes(plan), measuring.effort());
    Ok(Header {
        schema: SCHEMA,
        command: command_line(),
        quick: measuring.is_quick(),
        study: measuring.study().map(|study| study.name.clone()),
        study_hash: measuring.study().map(|study| study.hash.clone()),
        study_text: measuring.study().map(|study| study.text.clone()),
        study_only: measuring.study().map_or_else(Vec::new, |study| study.only.clone()),
        seed: plan.seed,
        started: jiff::Timestamp::now().to_string(),
        plan: plan_record(plan),
        environment: environment(),
        limits: Some(limits),
    })
}

/// Returns the arguments for display; bytes that are not valid UTF-8 are replaced.
fn command_line() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Prints warnings about conditions that distort the figures, before there are any.
fn print_distortions(environment: &Environment) {
    let grave = |warning: &Warning| warning.severity() == Severity::Distorts;
    for warning in warnings(environment).iter().filter(|warning| grave(warning)) {
        print_message(&warning_line(warning));
    }
}

/// Returns the sizes at which copies are measured: those of the plan, or a selection spread over them.
fn copy_sizes(plan: &Plan) -> Vec<usize> {
    let sizes: BTreeSet<u64> = plan.cases.iter().map(|case| case.spec.buffer_bytes).collect();
    let step = sizes.len().div_ceil(MAX_COPY_SIZES).max(1);
    sizes.iter().step_by(step).filter_map(|&bytes| usize::try_from(bytes).ok()).collect()
}

/// Prints the results of a plan, and the path of its file.
pub(super) fn print_results(
    measured: &AnalyzedFile,
    ending: ExitStatus,
    form: Form,
) -> Result<(), Error> {
    if form == Form::Tables {
        print(&page(heading(&measured.results.header), measured, RequestedParts::NONE))?;
        let of_study = [verdicts(measured), study_tables(measured)];
        let of_study: String =
            of_study.into_iter().flatten().map(|text| format!("\n{text}\n")).collect();
        let of_study = of_study.trim_end_matches('\n');
        if !of_study.is_empty() {
            print(of_study)?;
        }
    }
    print_ending(measured, ending, form)
}

/// Prints the results of a survey on one screen, and the path of its file.
pub(super) fn print_survey(
    measured: &AnalyzedFile,
    ending: ExitStatus,
    form: Form,
) -> Result<(), Error> {
    if form == Form::Tables {
        let heading = wrap(&heading(&measured.results.header), columns());
        print(&format!("{heading}\n\n{}", survey_screen(measured, columns())))?;
    }
    print_ending(measured, ending, form)
}

/// Prints the results as JSON if requested, what failed, and where the results are.
fn print_ending(measured: &AnalyzedFile, ending: ExitStatus, form: Form) -> Result<(), Error> {
    let (results, plan) = (&measured.results, &measured.results.header.plan);
    if matches!(form, Form::Json | Form::QuietJson) {
        print_with(|out| (JSON.write)(std::slice::from_ref(measured), out))?;
    }
    let closing = closing_lines(plan, results.failures.iter());
    if !closing.is_empty() {
        // One line each, however long: scripts search messages.
        print_message(&closing.join("\n"));
    }
    if ending == ExitStatus::Interrupted {
        let path = measured.path.display();
        print_message(&format!(
            "ipcperf: interrupted; results so far are kept; to continue: ipcperf resume {path}"
        ));
    }
    let (kept, path) = (results.samples.len(), measured.path.display());
    // Commands are not wrapped, so that they can be copied.
    form.print_message(&format!(
        "{kept} results are in {path}\nAll tables:  ipcperf show {path}\nAll figures: ipcperf report {path} -o \
         report.html"
    ));
    Ok(())
}
