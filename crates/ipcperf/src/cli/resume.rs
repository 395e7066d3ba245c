//! `ipcperf resume`: continues a results file.

use ipcperf_engine::placement::Topology;
use ipcperf_model::printable::printable_line;
use ipcperf_results::{Header, Results, Writer};

use super::arguments::ResumeArguments;
use super::export::Exports;
use super::results_input;
use crate::build_info::environment;
use crate::cli::session::{analyzed_file, decided_cases_of, print_results, topology};
use crate::error::{Error, ExitStatus, WriteStage};
use crate::printing::{Progress, print_message};
use crate::runner::{self, Outcome, ResumeState, Retry, TimeBudget, check_custom, stored_plan};
use ipcperf_plan::machine::{NoiseDetection, noise_detection};
use ipcperf_plan::{Plan, StoppingRule};
use ipcperf_study::Study;

pub(super) fn resume(arguments: &ResumeArguments) -> Result<ExitStatus, Error> {
    let refuse = |words: String| Error::usage(format!("{}: {words}", arguments.file.display()));
    let mut writer = Writer::open(arguments.file.clone())
        .map_err(|error| Error::before_open(error, WriteStage::Open))?;
    let (mut results, origin) = writer.read()?;
    results_input::complete_facts(&mut results);
    let exports = Exports::parse(&arguments.exports.export, Some(&arguments.file))?;
    let header = results.header.clone();
    let plan = stored_plan(&header.plan, header.seed).map_err(refuse)?;
    plan.check_names().map_err(|error| refuse(error.to_string()))?;
    // The code below loads the programs and libraries that the file names.
    arguments.custom.check_permission(&arguments.file, origin, &plan.custom_programs())?;
    check_same_machine(&header, &plan, &topology()?).map_err(refuse)?;
    check_same_noise_detection(&header).map_err(refuse)?;
    header.plan.custom.as_ref().map_or(Ok(()), check_custom).map_err(refuse)?;
    plan.check_stored().map_err(|error| refuse(error.to_string()))?;
    for warning in results.warnings.iter().cloned().chain(version_warning(&header)) {
        let words = format!("ipcperf: warning: {}: {warning}", arguments.file.display());
        print_message(&printable_line(&words));
    }
    let form = arguments.printed.form();
    let retry = if arguments.retry_failed { Retry::All } else { Retry::Transient };
    let is_over =
        results.is_complete() && (retry == Retry::Transient || results.failures.is_empty());
    let outcome = if is_over {
        let words = "complete; no run is missing";
        form.print_message(&printable_line(&format!("{}: {words}", arguments.file.display())));
        Outcome::from_resume_state(resume_state(results, retry))
    } else {
        writer.resume_after(&results)?;
        let left = plan.runs().saturating_sub(results.samples.len() as u64);
        let mut progress = Progress::new(left, form.visibility());
        let study = study_of(&header, &plan).map_err(refuse)?;
        let decided = decided_cases_of(study.as_ref(), &header);
        runner::run(
            &plan,
            resume_state(results, retry),
            TimeBudget::Unlimited,
            &mut writer,
            &mut progress,
            &decided,
        )?
    };
    let ending = outcome.status;
    let measured = analyzed_file(header, outcome, writer.path());
    print_results(&measured, ending, form)?;
    exports.write(&measured, form)?;
    Ok(ending)
}

/// Returns the study whose hypotheses decide how often cases are repeated; `None` if there is none.
///
/// # Errors
/// Returns a message if the study is not in the file or cannot be read.
fn study_of(header: &Header, plan: &Plan) -> Result<Option<Study>, String> {
    if !matches!(plan.stopping_rule, StoppingRule::UntilDecided(_)) {
        return Ok(None);
    }
    let unknown = |_| "measured with --until-decided, but the stored study cannot be read; start a new measurement";
    let text = header.study_text.as_deref().unwrap_or_default();
    let study = Study::parse(text).map_err(unknown)?.with_only(&header.study_only);
    study.map(Some).map_err(|error| error.to_string())
}

fn resume_state(results: Results, retry: Retry) -> ResumeState {
    let elapsed_ns = results.footer.map_or(0, |footer| footer.elapsed_ns);
    let Results { samples, peers, observations, failures, .. } = results;
    ResumeState { samples, peers, observations, failures, elapsed_ns, retry }
}

/// Checks that this is the machine of `header`: a file must not mix the results of two machines.
fn check_same_machine(header: &Header, plan: &Plan, topology: &Topology) -> Result<(), String> {
    let (then, now) = (&header.environment, environment());
    let facts = [
        ("CPU", &then.cpus.cpu_model, &now.cpus.cpu_model),
        ("kernel", &then.kernel.kernel, &now.kernel.kernel),
        ("kernel build", &then.kernel.kernel_build, &now.kernel.kernel_build),
    ];
    for (what, then, now) in facts {
        if then != now {
            let word = |fact: &Option<String>| fact.clone().unwrap_or_else(|| "unknown".to_owned());
            return Err(format!(
                "measured with another {what} ({}) than this machine has ({}); start a new measurement",
                word(then),
                word(now)
            ));
        }
    }
    let mut wanted = plan.cases.iter().flat_map(|case| case.spec.all_cpus());
    let missing = wanted.find(|cpu| !topology.cpus.iter().any(|c| c.number == *cpu));
    missing.map_or(Ok(()), |cpu| {
        let allowed = topology.allowed();
        Err(format!(
            "measured on CPU {cpu}, which is not one of the CPUs that this process may use ({allowed}); permit it \
             (taskset, cpuset), or start a new measurement"
        ))
    })
}

/// Checks that noise detection is on or off as in `header`: a file must not mix both.
fn check_same_noise_detection(header: &Header) -> Result<(), String> {
    match (header.environment.program.noise_detection, noise_detection()) {
        (Some(false), NoiseDetection::On) => {
            Err("measured with noise detection off (IPCPERF_KEEP_DISTURBED=1), but it is on now; \
            set IPCPERF_KEEP_DISTURBED=1 again, or start a new measurement"
                .to_owned())
        }
        (None | Some(true), NoiseDetection::Off) => Err("measured with noise detection on, \
            but it is off now; unset IPCPERF_KEEP_DISTURBED, or start a new measurement"
            .to_owned()),
        _ => Ok(()),
    }
}

/// Returns a warning for readers of a file that two versions of the program have written.
fn version_warning(header: &Header) -> Option<String> {
    let then = (&header.environment.program.version, &header.environment.program.commit);
    let now = environment();
    let now = (&now.program.version, &now.program.commit);
    (then != now).then(|| {
        let word = |(version, commit): (&String, &Option<String>)| {
            format!("{version} ({})", commit.as_deref().unwrap_or("unknown commit"))
        };
        format!(
            "the measurement was started by ipcperf {} and is resumed by ipcperf {}",
            word(then),
            word(now)
        )
    })
}
