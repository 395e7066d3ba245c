//! Arguments of `ipcperf study`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use ipcperf_study::Length;

use super::{OutputArguments, studies_help};
use crate::cli::custom::CustomArguments;
use crate::cli::known::Known;

#[derive(Args, Debug)]
pub(in crate::cli) struct StudyArguments {
    #[command(subcommand)]
    pub(in crate::cli) command: StudyCommand,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum StudyCommand {
    /// List the studies that come with ipcperf
    List(StudyListArguments),
    /// Print what a study asks, measures and claims
    Show(StudyShowArguments),
    /// Write a study of one's own: a file with every key explained, which runs as it is
    New(NewArguments),
    /// Say what is wrong with a study's file: line, key and remedy
    Check(StudyCheckArguments),
    /// Print the matrix and the time it will take; run nothing
    Plan(StudyPlanArguments),
    /// Measure what a study needs, and judge its hypotheses
    Run(StudyRunArguments),
    /// Judge the hypotheses of a study on a results file
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
    /// Print its file, to begin one of your own with
    #[arg(long)]
    pub(in crate::cli) toml: bool,
    /// Print the JSON Schema of studies, by which editors check them while they are written
    #[arg(long, conflicts_with_all = ["study", "toml"])]
    pub(in crate::cli) schema: bool,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct NewArguments {
    /// Write it here; a file that is there is left alone
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
pub(in crate::cli) struct StudyPart {
    #[arg(value_name = "NAME|FILE", help = studies_help())]
    #[arg(value_parser = Known::studies(), hide_possible_values = true)]
    pub(in crate::cli) study: String,
    /// Every second level of long factors, at most ten repetitions, shorter counts
    #[arg(long)]
    pub(in crate::cli) quick: bool,
    /// Stop repeating cases once the claims that need them are decided: they are judged after a third, a half, two
    /// thirds and all of the repetitions, each time at a share of their level
    #[arg(long)]
    pub(in crate::cli) until_decided: bool,
    /// Counts as in the publication, where the study has shorter ones for its full length
    #[arg(long, conflicts_with = "quick")]
    pub(in crate::cli) as_published: bool,
    /// Only this hypothesis, and what it needs; may be given several times
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) only: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) custom: CustomArguments,
}

impl StudyPart {
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
    pub(in crate::cli) part: StudyPart,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct StudyRunArguments {
    #[command(flatten)]
    pub(in crate::cli) part: StudyPart,
    /// Draw up a report of it: one page of HTML
    #[arg(long, value_name = "FILE.html")]
    pub(in crate::cli) report: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArguments,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct JudgeArguments {
    /// A results file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) file: PathBuf,
    /// Judge against this study [default: the one in the file, as it was before the measurement]
    #[arg(long, value_name = "NAME|FILE")]
    pub(in crate::cli) study: Option<String>,
    /// Exit with 1 unless everything that can be judged is supported
    #[arg(long)]
    pub(in crate::cli) gate: bool,
    /// Print a JSON array with verdicts and all of their evidence
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
