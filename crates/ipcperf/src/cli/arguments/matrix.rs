//! Arguments of a matrix: mechanisms, factors, instruments, repetitions.

use clap::{Args, Id};

use crate::cli::known::Known;
use ipcperf_plan::{CustomFiles, Error, Factor, OptionSetting, Typed, TypedHandling, Words};

/// The matrix: lists are comma-separated, and every combination is a case.
#[derive(Args, Debug)]
pub(in crate::cli) struct MatrixArguments {
    /// Mechanisms, or `all` (see ipcperf list); of your own: exec:PROGRAM, lib:FILE.so
    #[arg(short, long, value_name = "NAMES")]
    #[arg(value_parser = Known::mechanisms(), hide_possible_values = true, required = true)]
    mechanism: Option<String>,
    #[arg(short, long, value_name = "NAMES", default_value = Factor::Workload.default_text())]
    #[arg(help = Known::workloads().help("Workloads"))]
    #[arg(value_parser = Known::workloads(), hide_possible_values = true)]
    workload: String,
    /// Bytes handed to one call, or of one message: 64, 64KiB, 1MB, lists, and ranges:
    /// 512..16MiB (powers of two), 1MB..100MB:10 (ten values), 1kB..100MB*10 (times ten)
    #[arg(short, long, value_name = "SIZES", default_value = Factor::Buffer.default_text())]
    buffer: String,
    /// Payload one way in a run [default: found so that a run lasts at least 16 ms]
    #[arg(long, value_name = "BYTES")]
    total: Option<String>,
    #[arg(long, value_name = "MODES", default_value = Factor::Mode.default_text())]
    #[arg(help = Known::modes().help("Parties"))]
    #[arg(value_parser = Known::modes(), hide_possible_values = true)]
    mode: String,
    #[arg(long, value_name = "PLACES", default_value = Factor::Placement.default_text())]
    #[arg(help = placement_help())]
    #[arg(value_parser = Known::placements(), hide_possible_values = true)]
    placement: String,
    #[arg(help = Factor::Repetitions.help("Kept repetitions of each case; one more comes first and is set aside"))]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    repetitions: Option<u32>,
    /// In place of --repetitions: repeat until half the 95 % interval of each median is at most
    /// PCT per cent of it
    #[arg(long, value_name = "PCT", conflicts_with = "repetitions", allow_negative_numbers = true)]
    until_ci: Option<f64>,
    #[arg(help = Factor::MostRepetitions.help("With --until-ci: repetitions after which a case is given up"))]
    #[arg(long, value_name = "N", requires = "until_ci", allow_negative_numbers = true)]
    most_repetitions: Option<u32>,
    #[arg(help = Factor::MostSeconds.help("With --until-ci: time after which no case is repeated that has 10 \
        repetitions, s"))]
    #[arg(long, value_name = "SECONDS", requires = "until_ci", allow_negative_numbers = true)]
    most_seconds: Option<f64>,
    #[arg(help = Factor::Attempts.help("Runs made for one repetition at most, until one is not disturbed"))]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    attempts: Option<u32>,
    /// Options of mechanisms, such as pipe.capacity=4KiB,1MiB; several values make a matrix. Of all
    /// your own: exec.NAME=VALUES, lib.NAME=VALUES
    #[arg(long, value_name = "MECHANISM.OPTION=VALUES")]
    set: Vec<String>,
    /// What the kernel shall hold between the parties: default, match (the buffer), or BYTES
    #[arg(long, value_name = "SIZES", default_value = Factor::KernelBuffer.default_text())]
    kernel_buffer: String,
    #[command(flatten)]
    handling: HandlingArguments,
    /// Stamp every message and check order, length and content on arrival
    #[arg(long, conflicts_with_all = ["touch", "payload"])]
    pub(in crate::cli) verify: bool,
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
    #[arg(help = Factor::Deadline.help("The most a run may last, s"))]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    deadline: Option<f64>,
}

impl MatrixArguments {
    /// Returns the names of all arguments.
    pub(super) fn ids() -> Vec<Id> {
        let command = Self::augment_args(clap::Command::default());
        command.get_arguments().map(|argument| argument.get_id().clone()).collect()
    }

    /// Returns the arguments as they were typed, for parsing.
    ///
    /// # Errors
    /// Fails if a `--set` does not have the form `MECHANISM.OPTION=VALUES`.
    pub(in crate::cli) fn typed(&self) -> Result<Typed<'_>, Error> {
        let options: Result<Vec<_>, _> =
            self.set.iter().map(|text| OptionSetting::parse(text)).collect();
        Ok(Typed {
            mechanisms: words(self.mechanism.as_deref()),
            custom_files: CustomFiles::Ask,
            workloads: words(Some(&self.workload)),
            buffers: words(Some(&self.buffer)),
            total: words(self.total.as_deref()),
            messages: None,
            modes: words(Some(&self.mode)),
            placements: words(Some(&self.placement)),
            kernel_buffers: words(Some(&self.kernel_buffer)),
            handling: self.handling.typed(),
            instruments: words(self.instrument.as_deref()),
            events: [words(self.events.as_deref()), words(self.event.as_deref())],
            options: options?,
            repetitions: self.repetitions,
            until_ci_percent: self.until_ci,
            most_repetitions: self.most_repetitions,
            most_s: self.most_seconds,
            attempts: self.attempts,
            seed: self.seed,
            deadline_s: self.deadline,
        })
    }
}

fn words(text: Option<&str>) -> Option<Words<'_>> {
    text.map(Words::Text)
}

/// What is done with messages beside sending and receiving them.
#[derive(Args, Debug)]
struct HandlingArguments {
    #[arg(help = Factor::Touch.help("Who writes or reads every byte of each message, inside the timed region: \
        none, write (before it is sent), read (after it has arrived), both"))]
    #[arg(long, value_name = "WHO")]
    #[arg(value_parser = Known::touches(), hide_possible_values = true)]
    touch: Option<String>,
    #[arg(help = Factor::Reply.help("With -w request-reply: echo (each message is sent back as it is), or the \
        size of a message that answers it"))]
    #[arg(long, value_name = "SIZES")]
    reply: Option<String>,
    #[arg(help = Factor::Payload.help("What messages hold: constant, random, or compressible:R (by a factor of R, 1 \
        to 100)"))]
    #[arg(long, value_name = "WHAT")]
    payload: Option<String>,
    #[arg(help = Factor::Buffers.help("Where messages lie: hot (all in one buffer), rotate (in 16 in turn), cold \
        (in turn over 256 MiB, more than caches hold)"))]
    #[arg(long, value_name = "HOW")]
    #[arg(value_parser = Known::reuses(), hide_possible_values = true)]
    buffers: Option<String>,
    #[arg(help = Factor::FirstTouch.help("When buffers are touched first: after-fork (by the party that uses them), \
        before-fork (writes to them then fault inside the timed region), or timed \
        (by the first transfer)"))]
    #[arg(long, value_name = "WHEN")]
    #[arg(value_parser = Known::first_touches(), hide_possible_values = true)]
    first_touch: Option<String>,
}

impl HandlingArguments {
    fn typed(&self) -> TypedHandling<'_> {
        TypedHandling {
            touch: words(self.touch.as_deref()),
            payload: words(self.payload.as_deref()),
            buffers: words(self.buffers.as_deref()),
            first_touch: words(self.first_touch.as_deref()),
            reply: words(self.reply.as_deref()),
        }
    }
}

fn instruments_help() -> String {
    let what = "What watches runs; each that disturbs them gets runs of its own, beside others that \
        nobody watches";
    Known::instruments().help(what)
}

fn placement_help() -> String {
    format!("{}, or a pair such as 0:1", Known::placements().help("CPUs"))
}
