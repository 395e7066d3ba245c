//! What can be typed. Help is made from here and, for names, from the registries.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use super::known::Known;
use super::measure::Form;
use crate::error::EXIT_CODES;
use crate::plan::{Typed, TypedHandling};

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
    /// Say what works here, what does not, and what would make it work; changes nothing
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

/// What a study says itself.
const MATRIX: [&str; 24] = [
    "mechanism",
    "workload",
    "buffer",
    "total",
    "mode",
    "placement",
    "repetitions",
    "until_ci",
    "most_repetitions",
    "most_seconds",
    "attempts",
    "set",
    "kernel_buffer",
    "touch",
    "reply",
    "payload",
    "buffers",
    "first_touch",
    "verify",
    "instrument",
    "events",
    "event",
    "seed",
    "deadline",
];

#[derive(Args, Debug)]
#[command(mut_arg("mechanism", |mechanism| {
    mechanism.required(false).required_unless_present("study")
}))]
pub(super) struct PlanArguments {
    #[arg(value_name = "STUDY", help = studies_help())]
    #[arg(value_parser = Known::studies(), hide_possible_values = true)]
    #[arg(conflicts_with_all = MATRIX)]
    pub(super) study: Option<String>,
    /// Of a study: every second level of long factors, at most ten repetitions, shorter counts
    #[arg(long, requires = "study")]
    pub(super) quick: bool,
    #[command(flatten)]
    pub(super) matrix: MatrixArguments,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub(super) json: bool,
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

/// The matrix: lists are comma-separated, and every combination is a case.
#[derive(Args, Debug)]
pub(super) struct MatrixArguments {
    /// Mechanisms, or `all` (see ipcperf list); of your own: exec:PROGRAM, lib:FILE.so
    #[arg(short, long, value_name = "NAMES")]
    #[arg(value_parser = Known::mechanisms(), hide_possible_values = true, required = true)]
    mechanism: Option<String>,
    #[arg(short, long, value_name = "NAMES", default_value = "stream")]
    #[arg(help = Known::workloads().help("Workloads"))]
    #[arg(value_parser = Known::workloads(), hide_possible_values = true)]
    workload: String,
    /// Bytes handed to one call, or of one message: 64, 64KiB, 1MB, lists, and ranges:
    /// 512..16MiB (powers of two), 1MB..100MB:10 (ten values), 1kB..100MB*10 (times ten)
    #[arg(short, long, value_name = "SIZES", default_value = "64KiB")]
    buffer: String,
    /// Payload one way in a run [default: found so that a run lasts at least 16 ms]
    #[arg(long, value_name = "BYTES")]
    total: Option<String>,
    #[arg(long, value_name = "MODES", default_value = "2proc")]
    #[arg(help = Known::modes().help("Parties"))]
    #[arg(value_parser = Known::modes(), hide_possible_values = true)]
    mode: String,
    #[arg(long, value_name = "PLACES", default_value = "same", help = placement_help())]
    #[arg(value_parser = Known::placements(), hide_possible_values = true)]
    placement: String,
    /// Kept repetitions of each case; one more comes first and is set aside [default: 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    repetitions: Option<u32>,
    /// In place of --repetitions: repeat until half the 95 % interval of each median is at most
    /// PCT per cent of it
    #[arg(long, value_name = "PCT", conflicts_with = "repetitions", allow_negative_numbers = true)]
    until_ci: Option<f64>,
    /// With --until-ci: repetitions after which a case is given up [default: 500]
    #[arg(long, value_name = "N", requires = "until_ci", allow_negative_numbers = true)]
    most_repetitions: Option<u32>,
    /// With --until-ci: time after which no case is repeated that has 10 repetitions, s [default: 60]
    #[arg(long, value_name = "SECONDS", requires = "until_ci", allow_negative_numbers = true)]
    most_seconds: Option<f64>,
    /// Runs made for one repetition at most, until one is not disturbed [default: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    attempts: Option<u32>,
    /// Options of mechanisms, such as pipe.capacity=4KiB,1MiB; several values make a matrix. Of all
    /// your own: exec.NAME=VALUES, lib.NAME=VALUES
    #[arg(long, value_name = "MECHANISM.OPTION=VALUES")]
    set: Vec<String>,
    /// What the kernel shall hold between the parties: default, match (the buffer), or BYTES
    #[arg(long, value_name = "SIZES", default_value = "default")]
    kernel_buffer: String,
    #[command(flatten)]
    handling: HandlingArguments,
    /// Stamp every message and check order, length and content on arrival
    #[arg(long, conflicts_with_all = ["touch", "payload"])]
    pub(super) verify: bool,
    #[arg(long, value_name = "NAMES", help = instruments_help())]
    #[arg(value_parser = Known::instruments(), hide_possible_values = true)]
    instrument: Option<String>,
    /// What --instrument counters counts: cycles, L1-dcache-loads, r1b, a name of the kernel's, or a set of
    /// a document (l1d, mem, arch, tlbmem ...) [default: what explains a copy, as far as this CPU counts it]
    #[arg(long, value_name = "EVENTS")]
    events: Option<String>,
    /// What --instrument profile samples by [default: cpu-clock]
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// Shuffles the blocks; stored with the results [default: a new one each time]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// The most a run may last, s [default: 10]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    deadline: Option<f64>,
}

impl MatrixArguments {
    /// What was typed, for parsing.
    pub(super) fn typed(&self) -> Typed<'_> {
        Typed {
            mechanisms: self.mechanism.as_deref().unwrap_or_default(),
            workloads: &self.workload,
            buffers: &self.buffer,
            total: self.total.as_deref(),
            messages: None,
            modes: &self.mode,
            placements: &self.placement,
            kernel_buffers: &self.kernel_buffer,
            handling: self.handling.typed(),
            instruments: self.instrument.as_deref(),
            events: [self.events.as_deref(), self.event.as_deref()],
            set: &self.set,
            repetitions: self.repetitions,
            until_ci_percent: self.until_ci,
            most_repetitions: self.most_repetitions,
            most_s: self.most_seconds,
            attempts: self.attempts,
            seed: self.seed,
            deadline_s: self.deadline,
        }
    }
}

/// What is done with messages beside sending and receiving them.
#[derive(Args, Debug)]
struct HandlingArguments {
    /// Who writes or reads every byte of each message, inside the timed region: none, write (before
    /// it is sent), read (after it has arrived), both [default: none]
    #[arg(long, value_name = "WHO")]
    #[arg(value_parser = Known::touches(), hide_possible_values = true)]
    touch: Option<String>,
    /// With -w request-reply: echo (each message is sent back as it is), or the size of a message
    /// that answers it [default: echo]
    #[arg(long, value_name = "SIZES")]
    reply: Option<String>,
    /// What messages hold: constant, random, or compressible:R (by a factor of R, 1 to 100)
    /// [default: constant]
    #[arg(long, value_name = "WHAT")]
    payload: Option<String>,
    /// Where messages lie: hot (all in one buffer), rotate (in 16 in turn), cold (in turn over
    /// 256 MiB, more than caches hold) [default: hot]
    #[arg(long, value_name = "HOW")]
    #[arg(value_parser = Known::reuses(), hide_possible_values = true)]
    buffers: Option<String>,
    /// When buffers are touched first: after-fork (by the party that uses them), or before-fork
    /// (their pages are then had anew inside the timed region) [default: after-fork]
    #[arg(long, value_name = "WHEN")]
    #[arg(value_parser = Known::first_touches(), hide_possible_values = true)]
    first_touch: Option<String>,
}

impl HandlingArguments {
    fn typed(&self) -> TypedHandling<'_> {
        TypedHandling {
            touch: self.touch.as_deref(),
            payload: self.payload.as_deref(),
            buffers: self.buffers.as_deref(),
            first_touch: self.first_touch.as_deref(),
            reply: self.reply.as_deref(),
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
pub(super) struct StudyArguments {
    #[command(subcommand)]
    pub(super) command: StudyCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum StudyCommand {
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
pub(super) struct StudyListArguments {
    /// Print a JSON array instead of a table
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct StudyShowArguments {
    #[arg(value_name = "NAME|FILE", help = studies_help())]
    #[arg(value_parser = Known::studies(), hide_possible_values = true)]
    #[arg(required_unless_present = "schema")]
    pub(super) study: Option<String>,
    /// Print its file, to begin one of your own with
    #[arg(long)]
    pub(super) toml: bool,
    /// Print the JSON Schema of studies, by which editors check them while they are written
    #[arg(long, conflicts_with_all = ["study", "toml"])]
    pub(super) schema: bool,
}

#[derive(Args, Debug)]
pub(super) struct NewArguments {
    /// Write it here; a file that is there is left alone
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) file: PathBuf,
}

#[derive(Args, Debug)]
pub(super) struct StudyCheckArguments {
    #[arg(value_name = "NAME|FILE", help = studies_help())]
    #[arg(value_parser = Known::studies(), hide_possible_values = true)]
    pub(super) study: String,
    /// Print a JSON object with the list of mistakes
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct StudyPlanArguments {
    #[arg(value_name = "NAME|FILE", help = studies_help())]
    #[arg(value_parser = Known::studies(), hide_possible_values = true)]
    pub(super) study: String,
    /// Every second level of long factors, at most ten repetitions, shorter counts
    #[arg(long)]
    pub(super) quick: bool,
    /// Only this hypothesis, and what it needs; may be given several times
    #[arg(long, value_name = "ID")]
    pub(super) only: Vec<String>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct StudyRunArguments {
    #[arg(value_name = "NAME|FILE", help = studies_help())]
    #[arg(value_parser = Known::studies(), hide_possible_values = true)]
    pub(super) study: String,
    /// Every second level of long factors, at most ten repetitions, shorter counts
    #[arg(long)]
    pub(super) quick: bool,
    /// Only this hypothesis, and what it needs; may be given several times
    #[arg(long, value_name = "ID")]
    pub(super) only: Vec<String>,
    /// Draw up a report of it: one page of HTML
    #[arg(long, value_name = "FILE.html")]
    pub(super) report: Option<PathBuf>,
    #[command(flatten)]
    pub(super) output: OutputArguments,
}

#[derive(Args, Debug)]
pub(super) struct JudgeArguments {
    /// A results file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) file: PathBuf,
    /// Judge against this study [default: the one in the file, as it was before the measurement]
    #[arg(long, value_name = "NAME|FILE")]
    pub(super) study: Option<String>,
    /// Exit with 1 unless everything that can be judged is supported
    #[arg(long)]
    pub(super) gate: bool,
    /// Print a JSON array with verdicts and all of their evidence
    #[arg(long)]
    pub(super) json: bool,
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
    #[command(flatten)]
    pub(super) exports: ExportsArguments,
    #[command(flatten)]
    pub(super) printed: PrintedArguments,
}

#[derive(Args, Debug)]
pub(super) struct DoctorArguments {
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

fn instruments_help() -> String {
    let what = "What watches runs; each that disturbs them gets runs of its own, beside others that \
        nobody watches";
    Known::instruments().help(what)
}

fn placement_help() -> String {
    format!("{}, or a pair such as 0:1", Known::placements().help("CPUs"))
}

#[derive(Args, Debug)]
pub(super) struct CompletionsArguments {
    /// The shell that reads them
    pub(super) shell: Shell,
}
