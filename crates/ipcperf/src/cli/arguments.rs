//! Arguments of all commands. Help is made from here and, for names, from the registries.

mod matrix;
mod study;

use std::path::PathBuf;

use clap::{Arg, Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use ipcperf_study::Length;

use super::compat_program::CompatArguments;
use super::custom_permission::CustomArguments;
use super::suggestions::Known;
use crate::cli::form::Form;
use crate::error::{EXIT_CODES, Error};

pub(super) use matrix::MatrixArguments;
pub(super) use study::{
    JudgeArguments, NewArguments, StudyArguments, StudyCheckArguments, StudyCommand,
    StudyListArguments, StudyPlanArguments, StudyRunArguments, StudySelection, StudyShowArguments,
};

/// Benchmarks all mechanisms of local inter-process communication with one harness.
#[derive(Debug, Parser)]
#[command(name = "ipcperf", version, about, after_help = after_help())]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// Help text on `ipcperf` without a command, and on its results file.
pub(super) const WITHOUT_COMMAND: &str = "Without a command, ipcperf surveys this machine: nine common mechanisms, \
    about a minute. Results are stored in a new file in ~/.local/share/ipcperf (in $XDG_DATA_HOME/ipcperf if \
    XDG_DATA_HOME is set), or in the file that --out names. The programs of ipcperf compat store no results file.";

fn after_help() -> String {
    let codes = EXIT_CODES.map(|(code, meaning)| format!("  {code:<8}  {meaning}"));
    format!(
        "{WITHOUT_COMMAND}\n\nExample, bandwidth by buffer size:\n  ipcperf run -m pipe,unix-stream -b 512..16MiB\n\n\
         Exit codes:\n{}",
        codes.join("\n")
    )
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Survey this machine: nine common mechanisms at four message sizes, on one CPU and on two CPUs
    Survey(SurveyArguments),
    /// Measure a matrix, that is, all combinations of mechanisms, sizes, placements, and so on; each combination is a
    /// case
    Run(RunArguments),
    /// Run a single case with instruments, and print what they observed and how much they slowed the case down. The
    /// options must select exactly one case. Without --instrument, all instruments except strace and bpftrace are
    /// used
    #[command(mut_arg("json", |json| json.help(TRACE_JSON)))]
    #[command(mut_arg("mechanism", |mechanism| mechanism.help(TRACE_MECHANISM).value_name("NAME")))]
    #[command(mut_args(hide_repetitions))]
    Trace(RunArguments),
    /// Print the cases of a matrix or of a study, and the estimated time; measure nothing
    Plan(PlanArguments),
    /// List mechanisms, workloads, instruments, studies, exporters and hypothesis tests; print the manual of one
    List(ListArguments),
    /// Describe this machine: environment, hardware limits, warnings and remedies
    Machine(MachineArguments),
    /// Check this machine: what works, how to enable the rest, and leftovers of killed runs
    Doctor(DoctorArguments),
    /// Print the tables of results files
    Show(ShowArguments),
    /// Convert results files to CSV, JSON, Markdown or the format of another program
    Export(ExportArguments),
    /// Continue an interrupted measurement: execute the missing runs, in the planned order
    Resume(ResumeArguments),
    /// Write a report on results files: an HTML page with figures
    Report(ReportArguments),
    /// List, show, create, check, plan, run and judge studies
    Study(StudyArguments),
    /// Run as another benchmark (ipc-static, lmbench, ...): same arguments, output and exit codes
    Compat(CompatArguments),
    /// Print the completion script for a shell
    Completions(CompletionsArguments),
    /// Print the manual page; to read it: ipcperf man | man -l -
    Man,
}

#[derive(Args, Debug, Default)]
pub(super) struct SurveyArguments {
    /// Measure only two of the four message sizes
    #[arg(long)]
    pub(super) quick: bool,
    /// Also write a report, one HTML page, to FILE.html
    #[arg(long, value_name = "FILE.html")]
    pub(super) report: Option<PathBuf>,
    #[command(flatten)]
    pub(super) output: OutputArguments,
}

#[derive(Args, Debug)]
pub(super) struct RunArguments {
    #[command(flatten)]
    pub(super) matrix: MatrixArguments,
    #[command(flatten)]
    pub(super) output: OutputArguments,
}

#[derive(Args, Debug)]
#[command(mut_arg("mechanism", |mechanism| mechanism.required(false)))]
#[command(override_usage = "ipcperf plan [OPTIONS] <STUDY|-m NAMES>")]
pub(super) struct PlanArguments {
    #[arg(value_name = "STUDY", help = studies_help())]
    #[arg(value_parser = Known::studies(), hide_possible_values = true)]
    #[arg(conflicts_with_all = MatrixArguments::ids())]
    pub(super) study: Option<String>,
    /// With a study: plan the shorter measurement of ipcperf study run --quick
    #[arg(long, requires = "study")]
    pub(super) quick: bool,
    #[command(flatten)]
    pub(super) custom: CustomArguments,
    #[command(flatten)]
    pub(super) matrix: MatrixArguments,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub(super) json: bool,
}

impl PlanArguments {
    /// Checks that a study or a mechanism was named. clap would require it too, but cannot name the two alternatives in
    /// words.
    ///
    /// # Errors
    /// Returns a usage error if neither was named.
    pub(super) fn check_subject(&self) -> Result<(), Error> {
        if self.study.is_some() || self.matrix.names_mechanism() {
            return Ok(());
        }
        let words = "name a study, or mechanisms with -m NAMES (see ipcperf plan --help)";
        Err(Error::usage(words))
    }

    /// Returns the length of the study.
    pub(super) const fn length(&self) -> Length {
        if self.quick { Length::Quick } else { Length::Full }
    }
}

/// Heading of the flags for output.
const OUTPUT: &str = "Output";

/// Help of `ipcperf trace --json`.
const TRACE_JSON: &str = "Print a JSON array of what the instruments observed, instead of tables";

/// Help of `ipcperf trace --mechanism`.
const TRACE_MECHANISM: &str =
    "Mechanism (`ipcperf list` shows them), or a custom one: exec:PROGRAM, lib:FILE.so";

/// Hides the options on the number of repetitions: a trace has one repetition.
fn hide_repetitions(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "repetitions" | "until_ci" | "max_repetitions" | "max_time" => argument.hide(true),
        _ => argument,
    }
}

/// Where results go and what is printed.
#[derive(Args, Debug, Default)]
pub(super) struct OutputArguments {
    /// Write the results to FILE [default: a new file in ~/.local/share/ipcperf]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(super) out: Option<PathBuf>,
    /// Overwrite the FILE of --out if it exists
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
    #[command(flatten)]
    pub(super) exports: ExportsArguments,
    #[command(flatten)]
    pub(super) printed: PrintArguments,
}

/// Further files to write results to.
#[derive(Args, Debug, Default)]
pub(super) struct ExportsArguments {
    #[arg(long, value_name = "FORMAT=PATH", help = exports_help(), help_heading = OUTPUT)]
    pub(super) export: Vec<String>,
}

/// Form of the results on standard output.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct PrintArguments {
    /// Print a JSON array with a summary of each case, instead of tables
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
    /// Print no progress bar and no tables
    #[arg(long, short, help_heading = OUTPUT)]
    quiet: bool,
}

impl PrintArguments {
    pub(super) const fn form(self) -> Form {
        match (self.json, self.quiet) {
            (false, false) => Form::Tables,
            (true, false) => Form::Json,
            (true, true) => Form::QuietJson,
            (false, true) => Form::Quiet,
        }
    }
}

#[derive(Args, Debug)]
pub(super) struct ListArguments {
    #[arg(value_name = "KIND|NAME", help = list_help())]
    #[arg(value_parser = Known::listed(), hide_possible_values = true)]
    pub(super) subject: Option<String>,
    /// Print a JSON array: one object for each entry, with the keys name, about, available and reason, and further
    /// keys that depend on the kind
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct ReportArguments {
    /// Results files; the report shows several files side by side
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) files: Vec<PathBuf>,
    /// Write the report to FILE.html
    #[arg(short, long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    pub(super) out: PathBuf,
    /// Judge the hypotheses of this study [default: the study that is stored in the files]
    #[arg(long, value_name = "NAME|FILE")]
    pub(super) study: Option<String>,
    /// Also write each figure to DIR as SVG (and as PDF and PNG, if ipcperf was compiled with the feature pdf-png)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(super) figures: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(super) struct ResumeArguments {
    /// Results file of a measurement that was interrupted, was killed, or ran out of disk space
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) file: PathBuf,
    /// Retry all failed runs [default: only those with a temporary cause, such as a lack of memory]
    #[arg(long)]
    pub(super) retry_failed: bool,
    #[command(flatten)]
    pub(super) custom: CustomArguments,
    #[command(flatten)]
    pub(super) exports: ExportsArguments,
    #[command(flatten)]
    pub(super) printed: PrintArguments,
}

#[derive(Args, Debug)]
pub(super) struct DoctorArguments {
    /// Remove leftovers of this user's killed runs: files and IPC objects
    #[arg(long)]
    pub(super) clean: bool,
    /// Print one JSON object instead of tables
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct MachineArguments {
    /// Print one JSON object instead of tables
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct ShowArguments {
    /// Results files
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) files: Vec<PathBuf>,
    /// Add a column: limits (each median as a share of the hardware limit, with the name of this limit)
    #[arg(long, value_name = "COLUMN", value_enum, hide_possible_values = true)]
    pub(super) show: Option<ShownColumn>,
    /// Also print percentiles of round trips: p50, p90, p99, p99.9 and the longest
    #[arg(long)]
    pub(super) percentiles: bool,
    /// Reject a file that has an unreadable line [default: skip the line with a warning]
    #[arg(long)]
    pub(super) strict: bool,
    /// Print a JSON array with a summary of each case, instead of tables
    #[arg(long)]
    pub(super) json: bool,
}

/// Column that tables have on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ShownColumn {
    /// Share of the hardware limit.
    Limits,
}

#[derive(Args, Debug)]
pub(super) struct ExportArguments {
    #[arg(value_name = "FORMAT", help = Known::exporters().help("One of"))]
    #[arg(value_parser = Known::exporters(), hide_possible_values = true)]
    pub(super) format: String,
    /// Results files
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) files: Vec<PathBuf>,
    /// Write to PATH [default: standard output]
    #[arg(long, short, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
}

fn list_help() -> String {
    let what = "NAME of a mechanism, workload, instrument, study, exporter or hypothesis test, to print its manual; or \
        KIND, to print a list";
    format!("{} [default: all names]", Known::list_kinds().help(what))
}

fn studies_help() -> String {
    Known::studies().help("Study file, or one of")
}

fn exports_help() -> String {
    Known::exporters().help("Also export the results to PATH; FORMAT is one of")
}

#[derive(Args, Debug)]
pub(super) struct CompletionsArguments {
    /// Shell that reads the script
    pub(super) shell: Shell,
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;
    use ipcperf_plan::Factor;

    use super::*;

    #[test]
    fn each_factor_is_a_flag_that_a_study_leaves_no_room_for() {
        for factor in Factor::ALL {
            let line = ["ipcperf", "plan", "pipe-or-socket", factor.flag(), "1"];
            let refused = Arguments::try_parse_from(line).expect_err(factor.flag());
            assert_eq!(refused.kind(), ErrorKind::ArgumentConflict, "{refused}");
        }
    }
}
