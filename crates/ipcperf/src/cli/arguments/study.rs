//! Arguments of `ipcperf study`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use ipcperf_study::Length;

use super::{OutputArguments, studies_help};
use crate::cli::custom_permission::CustomArguments;
use crate::cli::suggestions::Known;

#[derive(Args, Debug)]
pub(in crate::cli) struct StudyArguments {
    #[command(subcommand)]
    pub(in crate::cli) command: StudyCommand,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum StudyCommand {
    /// List the bundled studies
    List(StudyListArguments),
    /// Print the question, the cases and the hypotheses of a study
    Show(StudyShowArguments),
    /// Create a study file: an example that explains every key and can be run as it is
    New(NewArguments),
    /// Check a study file: print each mistake with its line, its key and a correction
    Check(StudyCheckArguments),
    /// Print the cases of a study, and the estimated time; measure nothing
    Plan(StudyPlanArguments),
    /// Measure the cases of a study, and judge its hypotheses
    Run(StudyRunArguments),
    /// Judge the hypotheses of a study from a results file
    Judge(JudgeArguments),
}

#[derive(Args, Debug)]
pub(in crate::cli) struct StudyListArguments {
    /// Print a JSON array instead of a table
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct StudyShowArguments {
    #[arg(value_name = "NAME|FILE", help = studies_help())]
    #[arg(value_parser = Known::studies(), hide_possible_values = true)]
    #[arg(required_unless_present = "schema")]
    pub(in crate::cli) study: Option<String>,
    /// Print the study file; to adapt a bundled study, save it under another name
    #[arg(long)]
    pub(in crate::cli) toml: bool,
    /// Print the JSON Schema of study files, for completion in editors
    #[arg(long, conflicts_with_all = ["study", "toml"])]
    pub(in crate::cli) schema: bool,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct NewArguments {
    /// File to create; an existing file is not overwritten
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) file: PathBuf,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct StudyCheckArguments {
    #[arg(value_name = "NAME|FILE", help = studies_help())]
    #[arg(value_parser = Known::studies(), hide_possible_values = true)]
    pub(in crate::cli) study: String,
    /// Print a JSON object with the list of mistakes
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

/// A study, and how much of it.
#[derive(Args, Debug)]
pub(in crate::cli) struct StudySelection {
    #[arg(value_name = "NAME|FILE", help = studies_help())]
    #[arg(value_parser = Known::studies(), hide_possible_values = true)]
    pub(in crate::cli) study: String,
    /// Use a short form of the study: every second buffer size if there are more than 4, at most 10 repetitions, and
    /// fewer messages per run where the study defines that
    #[arg(long)]
    pub(in crate::cli) quick: bool,
    /// Stop repeating a case when all hypotheses about it are decided. Hypotheses are judged four times: after 1/3, 1/2,
    /// 2/3 and all of the repetitions. The significance level alpha is divided among these four judgments, so that the
    /// total probability of an error stays at most alpha
    #[arg(long)]
    pub(in crate::cli) until_decided: bool,
    /// Send as many messages per run as in the paper that the study repeats; takes hours
    #[arg(long, conflicts_with = "quick")]
    pub(in crate::cli) as_published: bool,
    /// Measure and judge only the hypothesis ID, with the cases that it needs; may be repeated
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) only: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) custom: CustomArguments,
}

impl StudySelection {
    /// Returns the length of the study.
    pub(in crate::cli) const fn length(&self) -> Length {
        match (self.quick, self.as_published) {
            (_, true) => Length::AsPublished,
            (true, false) => Length::Quick,
            (false, false) => Length::Full,
        }
    }
}

#[derive(Args, Debug)]
pub(in crate::cli) struct StudyPlanArguments {
    #[command(flatten)]
    pub(in crate::cli) part: StudySelection,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct StudyRunArguments {
    #[command(flatten)]
    pub(in crate::cli) part: StudySelection,
    /// Also write a report, one HTML page, to FILE.html
    #[arg(long, value_name = "FILE.html")]
    pub(in crate::cli) report: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArguments,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct JudgeArguments {
    /// Results file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) file: PathBuf,
    /// Judge the hypotheses of this study [default: the study that is stored in the file]
    #[arg(long, value_name = "NAME|FILE")]
    pub(in crate::cli) study: Option<String>,
    /// Exit with status 1 if any hypothesis is rejected or inconclusive, or if no hypothesis is testable
    #[arg(long)]
    pub(in crate::cli) gate: bool,
    /// Print a JSON array of verdicts with their evidence
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
