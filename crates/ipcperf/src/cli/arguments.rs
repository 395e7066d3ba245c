//! Arguments of all commands. Help is made from here and, for names, from the registries.

mod matrix;
mod study;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use ipcperf_study::Length;

use super::custom::CustomArguments;
use super::known::Known;
use super::program::ProgramArguments;
use crate::cli::form::Form;
use crate::error::EXIT_CODES;

pub(super) use matrix::MatrixArguments;
pub(super) use study::{
    JudgeArguments, NewArguments, StudyArguments, StudyCheckArguments, StudyCommand,
    StudyListArguments, StudyPart, StudyPlanArguments, StudyRunArguments, StudyShowArguments,
};

/// Measures every local way of inter-process communication on one harness.
#[derive(Debug, Parser)]
#[command(name = "ipcperf", version, about, after_help = after_help())]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// What `ipcperf` alone does.
pub(super) const ALONE: &str =
    "Without a command, ipcperf surveys this machine: ten mechanisms, about a minute.";

fn after_help() -> String {
    let codes = EXIT_CODES.map(|(code, meaning)| format!("{code} {meaning}"));
    format!("{ALONE}\n\nExit codes: {}.", codes.join("; "))
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Survey this machine: the mechanisms a reader would pick, four sizes, on one CPU and on two
    Survey(SurveyArguments),
    /// Measure the cases you name
    Run(RunArguments),
    /// Watch one case, one run, and print what instruments saw; what being watched cost, too
    Trace(RunArguments),
    /// Print the matrix and the time it will take; run nothing
    Plan(PlanArguments),
    /// List what there is
    List(ListArguments),
    /// Describe this machine: what bears on measurements, and what to do about it
    Machine(MachineArguments),
    /// Say what works here, what does not, and what would make it work; show what killed runs left
    Doctor(DoctorArguments),
    /// Print the tables of results files
    Show(ShowArguments),
    /// Write results in the format of another program
    Export(ExportArguments),
    /// Go on with a results file: same seed, same blocks, only what is missing
    Resume(ResumeArguments),
    /// Draw up a report on results files: one page of HTML, with figures
    Report(ReportArguments),
    /// What is asked, measured and claimed: list, show, write, check, plan, run and judge studies
    Study(StudyArguments),
    /// Stand for a program of the documents: its arguments, its lines, its exit codes
    As(ProgramArguments),
    /// Print what makes a shell complete commands, flags and names
    Completions(CompletionsArguments),
    /// Print the manual page; ipcperf man | man -l - shows it
    Man,
}

#[derive(Args, Debug, Default)]
pub(super) struct SurveyArguments {
    /// Every second size only
    #[arg(long)]
    pub(super) quick: bool,
    /// Draw up a report of it: one page of HTML
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
#[command(mut_arg("mechanism", |mechanism| {
    mechanism.required(false).required_unless_present("study")
}))]
pub(super) struct PlanArguments {
    #[arg(value_name = "STUDY", help = studies_help())]
    #[arg(value_parser = Known::studies(), hide_possible_values = true)]
    #[arg(conflicts_with_all = MatrixArguments::ids())]
    pub(super) study: Option<String>,
    /// Of a study: every second level of long factors, at most ten repetitions, shorter counts
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
    /// Returns the length of the study.
    pub(super) const fn length(&self) -> Length {
        if self.quick { Length::Quick } else { Length::Full }
    }
}

/// Where results go and what is printed.
#[derive(Args, Debug, Default)]
pub(super) struct OutputArguments {
    /// Write results here [default: a new file in ~/.local/share/ipcperf]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) out: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long)]
    pub(super) force: bool,
    #[command(flatten)]
    pub(super) exports: ExportsArguments,
    #[command(flatten)]
    pub(super) printed: PrintedArguments,
}

/// What else is written of what was measured.
#[derive(Args, Debug, Default)]
pub(super) struct ExportsArguments {
    #[arg(long, value_name = "FORMAT=PATH", help = exports_help())]
    pub(super) export: Vec<String>,
}

/// What is printed of what was measured.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct PrintedArguments {
    /// Print a JSON array with a summary of each case instead of tables
    #[arg(long)]
    json: bool,
    /// No progress bar, no tables
    #[arg(long, short)]
    quiet: bool,
}

impl PrintedArguments {
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
    /// Of what [default: all]
    pub(super) what: Option<Listed>,
    /// Print a JSON array instead of a table
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Listed {
    Mechanisms,
    Workloads,
    Instruments,
    Studies,
    Exporters,
}

#[derive(Args, Debug)]
pub(super) struct ReportArguments {
    /// Results files; several stand side by side
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) files: Vec<PathBuf>,
    /// Write the page here
    #[arg(short, long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    pub(super) out: PathBuf,
    /// Judge against this study [default: the one in the files, as it was before the measurement]
    #[arg(long, value_name = "NAME|FILE")]
    pub(super) study: Option<String>,
    /// Write each figure into DIR too, as SVG, PDF and PNG
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(super) figures: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(super) struct ResumeArguments {
    /// A results file whose command was interrupted, killed, or ran out of room
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) file: PathBuf,
    /// Make all failed runs again, and not only those that failed for want of something that may be back
    #[arg(long)]
    pub(super) retry_failed: bool,
    #[command(flatten)]
    pub(super) custom: CustomArguments,
    #[command(flatten)]
    pub(super) exports: ExportsArguments,
    #[command(flatten)]
    pub(super) printed: PrintedArguments,
}

#[derive(Args, Debug)]
pub(super) struct DoctorArguments {
    /// Remove what killed runs of this user left behind
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
    /// Refuse a file with a line that cannot be read, which is left out with a warning else
    #[arg(long)]
    pub(super) strict: bool,
    /// Print a JSON array with a summary of each case instead of tables
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct ExportArguments {
    #[arg(value_name = "FORMAT", help = Known::exporters().help("One of"))]
    #[arg(value_parser = Known::exporters(), hide_possible_values = true)]
    pub(super) format: String,
    /// Results files
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) files: Vec<PathBuf>,
    /// Write here [default: standard output]
    #[arg(long, short, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
}

fn studies_help() -> String {
    Known::studies().help("A study's file, or one of")
}

fn exports_help() -> String {
    Known::exporters().help("Write what was measured to PATH too; FORMAT is one of")
}

#[derive(Args, Debug)]
pub(super) struct CompletionsArguments {
    /// The shell that reads them
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
