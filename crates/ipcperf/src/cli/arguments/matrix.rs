//! Arguments of a matrix: mechanisms, factors, instruments, repetitions.

use clap::{Args, Id};

use crate::cli::suggestions::Known;
use ipcperf_plan::{
    CustomFiles, Error, Factor, OptionSetting, TypedLevels, TypedMessageOptions, TypedRequest,
};

/// The matrix: lists are comma-separated, and every combination is a case.
#[derive(Args, Debug)]
pub(in crate::cli) struct MatrixArguments {
    /// Mechanisms, or `all` (see ipcperf list); custom ones: exec:PROGRAM, lib:FILE.so
    #[arg(short, long, value_name = "NAMES")]
    #[arg(value_parser = Known::mechanisms(), hide_possible_values = true, required = true)]
    mechanism: Vec<String>,
    #[arg(short, long, value_name = "NAMES", default_value = Factor::Workload.default_text())]
    #[arg(help = Known::workloads().help("Workloads"))]
    #[arg(value_parser = Known::workloads(), hide_possible_values = true)]
    workload: Vec<String>,
    /// Bytes per call or message: 64, 64KiB, 1MB, lists, or ranges: 512..16MiB (powers of two), 1MB..100MB:10 (ten
    /// values), 1kB..100MB*10 (times ten)
    #[arg(short, long, value_name = "SIZES", default_value = Factor::Buffer.default_text())]
    buffer: Vec<String>,
    /// Payload bytes per run, in one direction [default: calibrated so that a run lasts at least 16 ms]
    #[arg(long, value_name = "BYTES")]
    total: Vec<String>,
    #[arg(long, value_name = "MODES", default_value = Factor::Mode.default_text())]
    #[arg(help = Known::modes().help("Threads or processes of the peers"))]
    #[arg(value_parser = Known::modes(), hide_possible_values = true)]
    mode: Vec<String>,
    #[arg(long, value_name = "PLACES", default_value = Factor::Placement.default_text())]
    #[arg(help = placement_help())]
    #[arg(value_parser = Known::placements(), hide_possible_values = true)]
    placement: Vec<String>,
    #[arg(help = Factor::Repetitions.help("Valid repetitions per case; one more is made first and excluded"))]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    repetitions: Option<u32>,
    /// Instead of --repetitions: repeat until the 95 % interval of each median is within PCT % of it, in either
    /// direction
    #[arg(long, value_name = "PCT", conflicts_with = "repetitions", allow_negative_numbers = true)]
    until_ci: Option<f64>,
    #[arg(help = Factor::MaxRepetitions.help("With --until-ci: maximum repetitions per case"))]
    #[arg(long, value_name = "N", requires = "until_ci", allow_negative_numbers = true)]
    max_repetitions: Option<u32>,
    #[arg(help = Factor::MaxTime.help("With --until-ci: stop after SECONDS, once every case has 10 repetitions"))]
    #[arg(long, value_name = "SECONDS", requires = "until_ci", allow_negative_numbers = true)]
    max_time: Option<f64>,
    #[arg(help = Factor::Attempts.help("Attempts per repetition: a run disturbed by other activity is retried"))]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    attempts: Option<u32>,
    /// Option of a mechanism, such as pipe.capacity=4KiB,1MiB; several values make a matrix. For all custom mechanisms:
    /// exec.NAME=VALUES, lib.NAME=VALUES
    #[arg(long, value_name = "MECHANISM.OPTION=VALUES")]
    set: Vec<String>,
    /// Kernel buffer between the peers: default, match (the size of -b), or BYTES
    #[arg(long, value_name = "SIZES", default_value = Factor::KernelBuffer.default_text())]
    kernel_buffer: Vec<String>,
    #[command(flatten)]
    message_options: MessageOptionArguments,
    /// Stamp every message and check order, length and content on arrival
    #[arg(long, conflicts_with_all = ["touch", "payload"])]
    pub(in crate::cli) verify: bool,
    #[arg(long, value_name = "NAMES", help = instruments_help())]
    #[arg(value_parser = Known::instruments(), hide_possible_values = true)]
    instrument: Vec<String>,
    /// Events of --instrument counters: cycles, L1-dcache-loads, r1b, an event in sysfs, or a set of ipc-static (l1d,
    /// mem, arch, tlbmem, ...) [default: events that explain the cost of a copy, if this CPU has them]
    #[arg(long, value_name = "EVENTS")]
    counter_events: Vec<String>,
    /// Sampling event of --instrument profile [default: cpu-clock]
    #[arg(long, value_name = "EVENT")]
    profile_event: Vec<String>,
    /// Seed that shuffles the blocks; stored with the results [default: from the clock]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<u64>,
    #[arg(help = Factor::Timeout.help("Maximum duration of a run, s"))]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    timeout: Option<f64>,
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
    pub(in crate::cli) fn typed(&self) -> Result<TypedRequest<'_>, Error> {
        let options: Result<Vec<_>, _> =
            self.set.iter().map(|text| OptionSetting::parse(text)).collect();
        Ok(TypedRequest {
            mechanisms: words(&self.mechanism),
            custom_files: CustomFiles::Inspect,
            workloads: words(&self.workload),
            buffers: words(&self.buffer),
            total: words(&self.total),
            messages: None,
            modes: words(&self.mode),
            placements: words(&self.placement),
            kernel_buffers: words(&self.kernel_buffer),
            message_options: self.message_options.typed(),
            instruments: words(&self.instrument),
            events: [words(&self.counter_events), words(&self.profile_event)],
            options: options?,
            repetitions: self.repetitions,
            until_ci_percent: self.until_ci,
            max_repetitions: self.max_repetitions,
            max_time_s: self.max_time,
            attempts: self.attempts,
            seed: self.seed,
            timeout_s: self.timeout,
        })
    }
}

/// Returns the values of a flag, which may be repeated. `None` without the flag.
fn words(texts: &[String]) -> Option<TypedLevels<'_>> {
    (!texts.is_empty()).then_some(TypedLevels::Items(texts))
}

/// Work on messages in addition to sending and receiving them.
#[derive(Args, Debug)]
struct MessageOptionArguments {
    #[arg(help = Factor::Touch.help("Access every payload byte inside the timed region: none, write (before sending), \
        read (after receiving), both"))]
    #[arg(long, value_name = "ACCESS")]
    #[arg(value_parser = Known::touches(), hide_possible_values = true)]
    touch: Vec<String>,
    #[arg(help = Factor::Reply.help("Reply of -w request-reply: echo (the message itself), or the size of another \
        message"))]
    #[arg(long, value_name = "SIZES")]
    reply: Vec<String>,
    #[arg(help = Factor::Payload.help("Content of messages: constant, random, or compressible:R (by a factor R of 1 to \
        100)"))]
    #[arg(long, value_name = "CONTENT")]
    payload: Vec<String>,
    #[arg(help = Factor::Buffers.help("Buffers of messages: hot (one buffer), rotate (16 in turn), cold (256 MiB in \
        turn, more than caches hold)"))]
    #[arg(long, value_name = "ORDER")]
    #[arg(value_parser = Known::reuses(), hide_possible_values = true)]
    buffers: Vec<String>,
    #[arg(help = Factor::FirstTouch.help("When buffers are first touched: after-fork (by the peer that uses them), \
        before-fork (later writes fault inside the timed region), or timed (by the first transfer)"))]
    #[arg(long, value_name = "WHEN")]
    #[arg(value_parser = Known::first_touches(), hide_possible_values = true)]
    first_touch: Vec<String>,
}

impl MessageOptionArguments {
    fn typed(&self) -> TypedMessageOptions<'_> {
        TypedMessageOptions {
            touch: words(&self.touch),
            payload: words(&self.payload),
            buffers: words(&self.buffers),
            first_touch: words(&self.first_touch),
            reply: words(&self.reply),
        }
    }
}

fn instruments_help() -> String {
    let what =
        "Instruments; each intrusive one gets separate runs, paired with uninstrumented runs";
    Known::instruments().help(what)
}

fn placement_help() -> String {
    format!("{}, or a pair such as 0:1", Known::placements().help("CPUs"))
}
