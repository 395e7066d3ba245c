//! `ipcperf resume`: continues a results file.

use ipcperf_engine::placement::Topology;
use ipcperf_model::printable::printable_line;
use ipcperf_results::{Header, Results, Writer};

use super::arguments::ResumeArguments;
use super::export::Exports;
use super::stored;
use crate::cli::session::{decided_by, measured, present, topology};
use crate::error::{Ending, Error};
use crate::printing::{Progress, tell};
use crate::program::environment;
use crate::runner::{self, Before, Outcome, Retry, check_custom, stored_plan};
use ipcperf_plan::machine::{NoiseDetection, noise_detection};
use ipcperf_plan::{Enough, Plan};
use ipcperf_study::Study;

pub(super) fn resume(arguments: &ResumeArguments) -> Result<Ending, Error> {
    let refuse = |words: String| Error::usage(format!("{}: {words}", arguments.file.display()));
    let mut writer = Writer::open(arguments.file.clone())?;
    let (mut results, origin) = writer.read()?;
    stored::complete(&mut results);
    let exports = Exports::parse(&arguments.exports.export, Some(&arguments.file))?;
    let header = results.header.clone();
    let plan = stored_plan(&header.plan, header.seed).map_err(refuse)?;
    plan.check_names().map_err(|error| refuse(error.to_string()))?;
    // The code below loads the programs and libraries that the file names.
    arguments.custom.permit(&arguments.file, origin, &plan.custom_mechanisms())?;
    same_machine(&header, &plan, &topology()?).map_err(refuse)?;
    same_noise_detection(&header).map_err(refuse)?;
    header.plan.custom.as_ref().map_or(Ok(()), check_custom).map_err(refuse)?;
    plan.check_stored().map_err(|error| refuse(error.to_string()))?;
    for warning in results.warnings.iter().cloned().chain(other_version(&header)) {
        let words = format!("ipcperf: warning: {}: {warning}", arguments.file.display());
        tell(&printable_line(&words));
    }
    let form = arguments.printed.form();
    let retry = if arguments.retry_failed { Retry::All } else { Retry::Transient };
    let is_over =
        results.is_complete() && (retry == Retry::Transient || results.failures.is_empty());
    let outcome = if is_over {
        Outcome::of(before(results, retry))
    } else {
        writer.go_on(&results)?;
        let left = plan.runs().saturating_sub(results.samples.len() as u64);
        let mut progress = Progress::over(left, form.visibility());
        let study = study_of(&header, &plan).map_err(refuse)?;
        let decided = decided_by(study.as_ref(), &header);
        runner::run(&plan, before(results, retry), &mut writer, &mut progress, &decided)?
    };
    let ending = outcome.ending;
    let measured = measured(header, outcome, writer.path());
    present(&measured, ending, form)?;
    exports.write(&measured, form)?;
    Ok(ending)
}

/// Returns the study whose hypotheses decide how often cases are repeated; `None` if there is none.
///
/// # Errors
/// Returns a message if the study is not in the file or cannot be read.
fn study_of(header: &Header, plan: &Plan) -> Result<Option<Study>, String> {
    if !matches!(plan.enough, Enough::UntilDecided(_)) {
        return Ok(None);
    }
    let unknown =
        |_| "it repeats cases until claims are decided, and its study cannot be read: measure anew";
    let text = header.study_text.as_deref().unwrap_or_default();
    let study = Study::read(text).map_err(unknown)?.only(&header.study_only);
    study.map(Some).map_err(|error| error.to_string())
}

fn before(results: Results, retry: Retry) -> Before {
    let elapsed_ns = results.footer.map_or(0, |footer| footer.elapsed_ns);
    let Results { samples, observations, failures, .. } = results;
    Before { samples, observations, failures, elapsed_ns, retry }
}

/// Checks that this is the machine of `header`: a file must not mix the results of two machines.
fn same_machine(header: &Header, plan: &Plan, topology: &Topology) -> Result<(), String> {
    let (then, now) = (&header.environment, environment());
    let facts = [
        ("CPU", &then.cpus.cpu_model, &now.cpus.cpu_model),
        ("kernel", &then.kernel.kernel, &now.kernel.kernel),
        ("build of the kernel", &then.kernel.kernel_build, &now.kernel.kernel_build),
    ];
    for (what, then, now) in facts {
        if then != now {
            let word = |fact: &Option<String>| fact.clone().unwrap_or_else(|| "unknown".to_owned());
            return Err(format!(
                "it was measured with another {what} ({}, here {}): measure anew",
                word(then),
                word(now)
            ));
        }
    }
    let wanted = plan.cases.iter().filter_map(|case| case.spec.cpus).flatten();
    let missing = wanted.into_iter().find(|cpu| !topology.cpus.iter().any(|c| c.number == *cpu));
    missing.map_or(Ok(()), |cpu| {
        let allowed = topology.allowed();
        Err(format!("CPU {cpu}, which it was measured on, is outside the allowed CPUs ({allowed})"))
    })
}

/// Checks that noise detection is on or off as in `header`: a file must not mix both.
fn same_noise_detection(header: &Header) -> Result<(), String> {
    match (header.environment.program.noise_detection, noise_detection()) {
        (Some(false), NoiseDetection::On) => Err("it was measured with noise detection off \
            (IPCPERF_KEEP_DISTURBED=1): set that again, or measure anew"
            .to_owned()),
        (None | Some(true), NoiseDetection::Off) => Err("it was measured with noise detection \
            on, and here it is off: unset IPCPERF_KEEP_DISTURBED"
            .to_owned()),
        _ => Ok(()),
    }
}

/// Returns a warning for readers of a file that two versions of the program have written.
fn other_version(header: &Header) -> Option<String> {
    let then = (&header.environment.program.version, &header.environment.program.commit);
    let now = environment();
    let now = (&now.program.version, &now.program.commit);
    (then != now).then(|| {
        let word = |(version, commit): (&String, &Option<String>)| {
            format!("{version} ({})", commit.as_deref().unwrap_or("unknown commit"))
        };
        format!("begun by ipcperf {}, gone on with by {}", word(then), word(now))
    })
}
