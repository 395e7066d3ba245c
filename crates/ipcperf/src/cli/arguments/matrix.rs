//! Arguments of a matrix: mechanisms, factors, instruments, repetitions.

use clap::{Args, Id};

use crate::cli::suggestions::Known;
use crate::printing::WHICH_ANSWERED_WORKLOAD;
use ipcperf_model::duration::parse_duration;
use ipcperf_model::instrument::Intrusive;
use ipcperf_model::placement::PAIR;
use ipcperf_observe::Instrument;
use ipcperf_plan::{
    CustomFiles, Error, Factor, FactorError, OptionSetting, Reason, TypedKnee, TypedLevels,
    TypedMessageOptions, TypedPacing, TypedPeers, TypedPrefixes, TypedRequest,
};

/// Heading of the flags for message options.
const MESSAGES: &str = "Message options";
/// Heading of the flags for paced traffic.
const PACING: &str = "Paced traffic";
/// Heading of the flags for workloads with several peers.
const PEERS: &str = "Several peers";
/// Heading of the flags for programs that are started separately.
const PROGRAMS: &str = "Separate programs";
/// Heading of the flags for repetitions.
const REPETITIONS: &str = "Repetitions";
/// Heading of the flags for instruments.
const INSTRUMENTS: &str = "Instruments";

/// The matrix: lists are comma-separated, and each cell is a case.
#[derive(Args, Debug)]
pub(in crate::cli) struct MatrixArguments {
    /// Mechanisms, comma-separated (`ipcperf list` shows them), or `all`, or custom ones: exec:PROGRAM, lib:FILE.so
    #[arg(short, long, value_name = "NAMES")]
    #[arg(value_parser = Known::mechanisms(), hide_possible_values = true, required = true)]
    mechanism: Vec<String>,
    #[arg(short, long, value_name = "NAMES", default_value = Factor::Workload.default_text())]
    #[arg(help = workload_help())]
    #[arg(value_parser = Known::workloads(), hide_possible_values = true)]
    workload: Vec<String>,
    /// Bytes per message: a size (64, 64KiB, 1MB), a list (64,64KiB), or a range: 512..16MiB (powers of two),
    /// 1MB..100MB:10 (ten evenly spaced sizes), 1kB..100MB*10 (each size is ten times the one before)
    #[arg(short, long, value_name = "SIZES", default_value = Factor::Buffer.default_text())]
    #[arg(conflicts_with = "messages")]
    buffer: Vec<String>,
    /// Payload bytes that the sender sends per run; replies are not counted [default: calibrated so that a run lasts at
    /// least 16 ms]
    #[arg(long, value_name = "BYTES")]
    total: Option<String>,
    #[arg(long, value_name = "MODES", default_value = Factor::Mode.default_text())]
    #[arg(help = Known::modes().help("Run the two peers in one thread, two threads, two processes, or two \
        separately executed programs (2exec)"))]
    #[arg(value_parser = Known::modes(), hide_possible_values = true)]
    mode: Vec<String>,
    #[arg(long, value_name = "PLACES", default_value = Factor::Placement.default_text())]
    #[arg(help = placement_help())]
    #[arg(value_parser = Known::placements(), hide_possible_values = true)]
    placement: Vec<String>,
    #[arg(help = Factor::Repetitions.help("Repetitions per case, after a first one that is not counted"))]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = REPETITIONS)]
    repetitions: Option<u32>,
    /// Instead of --repetitions: repeat each case until the half-width of the 95 % confidence interval of its median is
    /// at most PCT % of the median, in two consecutive checks
    #[arg(long, value_name = "PCT", conflicts_with = "repetitions", allow_negative_numbers = true)]
    #[arg(help_heading = REPETITIONS)]
    until_ci: Option<f64>,
    #[arg(help = Factor::MaxRepetitions.help("With --until-ci: maximum repetitions per case"))]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = REPETITIONS)]
    max_repetitions: Option<u32>,
    #[arg(help = Factor::MaxTime.help("With --until-ci: end the whole measurement after TIME (such as 30s or \
        2min), but not before every case has 10 repetitions"))]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_negative_numbers = true)]
    #[arg(help_heading = REPETITIONS)]
    max_time: Option<f64>,
    #[arg(help = Factor::Attempts.help("Attempts per repetition: a run that was disturbed by other activity is \
        repeated. In total, at most 10 runs are repeated, or half of all runs if that is more"))]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = REPETITIONS)]
    attempts: Option<u32>,
    /// Values of a mechanism's option: pipe.capacity=4KiB,1MiB measures both. For custom mechanisms, exec.OPTION (such
    /// as exec.depth=8) applies to every exec:PROGRAM, and lib.OPTION applies to every lib:FILE.so
    #[arg(long, value_name = "MECHANISM.OPTION=VALUES")]
    set: Vec<String>,
    /// Size of the kernel's buffer between the peers: default, match (the same as -b), or bytes. To see the sizes of a
    /// pipe side by side in one table: --set pipe.capacity=64KiB,1MiB
    #[arg(long, value_name = "SIZES", default_value = Factor::KernelBuffer.default_text())]
    kernel_buffer: Vec<String>,
    #[command(flatten)]
    pacing: PacingArguments,
    #[command(flatten)]
    peers: PeerArguments,
    #[command(flatten)]
    programs: ProgramArguments,
    #[command(flatten)]
    message_options: MessageOptionArguments,
    /// Stamp every message, and check the order, length and content of those that arrive
    #[arg(long, conflicts_with_all = ["touch", "payload"], help_heading = MESSAGES)]
    pub(in crate::cli) verify: bool,
    #[arg(long, value_name = "NAMES", help = instruments_help())]
    #[arg(value_parser = Known::instruments(), hide_possible_values = true)]
    #[arg(help_heading = INSTRUMENTS)]
    instrument: Vec<String>,
    #[arg(help = Factor::CounterEvents.help("Events of --instrument counters: names as for perf (cycles, \
        L1-dcache-loads, r1b), or sets of events (l1d, mem, arch, tlbmem, ...; docs/counters.md)"))]
    #[arg(long, value_name = "EVENTS", help_heading = INSTRUMENTS)]
    counter_events: Vec<String>,
    #[arg(help = Factor::ProfileEvent.help("Event that triggers the samples of --instrument profile"))]
    #[arg(long, value_name = "EVENT", help_heading = INSTRUMENTS)]
    profile_event: Option<String>,
    #[arg(help = Factor::Seed.help("Seed of the random order of the cases; stored with the results"))]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = REPETITIONS)]
    seed: Option<u64>,
    #[arg(help = Factor::Timeout.help("Stop a run that takes longer than TIME (such as 500ms or 2s); it counts as failed"))]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_negative_numbers = true)]
    #[arg(help_heading = REPETITIONS)]
    timeout: Option<f64>,
}

impl MatrixArguments {
    /// Returns the names of all arguments.
    pub(super) fn ids() -> Vec<Id> {
        let command = Self::augment_args(clap::Command::default());
        command.get_arguments().map(|argument| argument.get_id().clone()).collect()
    }

    /// Whether a number of repetitions, or a rule or a limit for it, was given.
    pub(in crate::cli) const fn sets_repetitions(&self) -> bool {
        self.repetitions.is_some()
            || self.until_ci.is_some()
            || self.max_repetitions.is_some()
            || self.max_time.is_some()
    }

    /// Whether a mechanism was named.
    pub(super) const fn names_mechanism(&self) -> bool {
        !self.mechanism.is_empty()
    }

    /// Returns the arguments as they were typed, for parsing.
    ///
    /// # Errors
    /// Fails if a `--set` does not have the form `MECHANISM.OPTION=VALUES`, or if a limit of `--until-ci` was given
    /// without it.
    pub(in crate::cli) fn typed(&self) -> Result<TypedRequest<'_>, Error> {
        self.check_limits()?;
        // clap does not ask for a flag that contradicts another one which was given.
        if self.pacing.knee_p99.is_some() && !self.pacing.find_knee {
            let words = format!("{} requires --find-knee", Factor::KneeP99.flag());
            return Err(Error::Usage(words));
        }
        let options: Result<Vec<_>, _> =
            self.set.iter().map(|text| OptionSetting::parse(text)).collect();
        Ok(TypedRequest {
            mechanisms: words(&self.mechanism),
            custom_files: CustomFiles::Inspect,
            workloads: words(&self.workload),
            // Its default does not apply to a mixture.
            buffers: words(&self.buffer).filter(|_| self.message_options.messages.is_empty()),
            total: word(self.total.as_deref()),
            messages: None,
            modes: words(&self.mode),
            placements: words(&self.placement),
            kernel_buffers: words(&self.kernel_buffer),
            pacing: self.pacing.typed(),
            peers: self.peers.typed(),
            prefixes: self.programs.typed(),
            message_options: self.message_options.typed(),
            instruments: words(&self.instrument),
            events: [words(&self.counter_events), word(self.profile_event.as_deref())],
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

    /// Checks that limits of `--until-ci` were given only with it.
    fn check_limits(&self) -> Result<(), FactorError> {
        let limits = [
            (Factor::MaxRepetitions, self.max_repetitions.is_some()),
            (Factor::MaxTime, self.max_time.is_some()),
        ];
        let given = limits.into_iter().find(|(_, is_given)| *is_given);
        let Some((factor, _)) = given.filter(|_| self.until_ci.is_none()) else { return Ok(()) };
        let (value, reason) = (String::new(), Reason::IsFor(Factor::UntilCi, vec!["PCT"]));
        Err(FactorError { factor, option: None, value, reason })
    }
}

/// Returns the value of a flag that may be given once. `None` without the flag.
fn word(text: Option<&str>) -> Option<TypedLevels<'_>> {
    text.map(TypedLevels::Text)
}

/// Returns the values of a flag, which may be repeated. `None` without the flag.
fn words(texts: &[String]) -> Option<TypedLevels<'_>> {
    (!texts.is_empty()).then_some(TypedLevels::Items(texts))
}

/// Workloads with several peers.
#[derive(Args, Debug)]
struct PeerArguments {
    #[arg(help = Factor::Peers.help("Number of senders (fan-in), receivers (fan-out), pairs, or clients (server), at most \
        64; a list (1,2,4,8) measures each"))]
    #[arg(long, value_name = "NUMBERS", help_heading = PEERS, allow_negative_numbers = true)]
    peers: Vec<String>,
    #[arg(help = Factor::Traffic.help("Traffic of -w pairs: stream or round-trip"))]
    #[arg(long, value_name = "TRAFFIC", help_heading = PEERS)]
    traffic: Vec<String>,
}

impl PeerArguments {
    fn typed(&self) -> TypedPeers<'_> {
        TypedPeers { peers: words(&self.peers), traffic: words(&self.traffic) }
    }
}

/// Programs of mode 2exec.
#[derive(Args, Debug)]
struct ProgramArguments {
    #[arg(help = Factor::SenderPrefix.help("In mode 2exec: command that starts the sender's program, such as 'chrt -f 50', \
        'setpriv --reuid 1000 --clear-groups' or 'ip netns exec blue'. Given several times, each is measured; none: \
        without a command"))]
    #[arg(long, value_name = "COMMAND", help_heading = PROGRAMS, allow_hyphen_values = true)]
    sender_prefix: Vec<String>,
    #[arg(help = Factor::ReceiverPrefix.help("The same for the receiver's program"))]
    #[arg(long, value_name = "COMMAND", help_heading = PROGRAMS, allow_hyphen_values = true)]
    receiver_prefix: Vec<String>,
}

impl ProgramArguments {
    fn typed(&self) -> TypedPrefixes<'_> {
        TypedPrefixes { sender: words(&self.sender_prefix), receiver: words(&self.receiver_prefix) }
    }
}

/// Schedule of the messages.
#[derive(Args, Debug)]
struct PacingArguments {
    /// Send at this many messages (or requests) per second, whatever the receiver does: a rate (500, 20k, 1M), a list
    /// (1k,20k), or a range (1k..1M*10). Latencies count from the scheduled time of each message [default: send each
    /// message as soon as possible]
    #[arg(long, value_name = "RATES", help_heading = PACING, allow_negative_numbers = true)]
    rate: Vec<String>,
    #[arg(help = Factor::Arrivals.help("Times between messages: even (equal), poisson (exponential, as of many \
        independent clients), burst:K (K messages at once)"))]
    #[arg(long, value_name = "TIMES", help_heading = PACING)]
    arrivals: Vec<String>,
    #[arg(help = Factor::Pacer.help("How the sender waits for the time of a message: spin (exact, keeps its CPU busy) or \
        sleep (some 50 µs late)"))]
    #[arg(long, value_name = "PACER", help_heading = PACING)]
    #[arg(value_parser = Known::pacers(), hide_possible_values = true)]
    pacer: Vec<String>,
    #[arg(help = Factor::Duration.help("Duration of a paced run (such as 500ms or 5s)"))]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_negative_numbers = true)]
    #[arg(help_heading = PACING)]
    duration: Option<f64>,
    /// Find the knee: the highest rate whose p99 latency (from the schedule) stays below a bound. Measures the unpaced rate,
    /// then bisects, with at least 5 undisturbed runs a step
    #[arg(long, help_heading = PACING, conflicts_with_all = ["rate", "total", "instrument", "until_ci"])]
    find_knee: bool,
    #[arg(help = Factor::KneeP99.help("With --find-knee: bound on the p99 latency (such as 100us)"))]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_negative_numbers = true)]
    #[arg(help_heading = PACING)]
    knee_p99: Option<f64>,
}

impl PacingArguments {
    fn typed(&self) -> TypedPacing<'_> {
        TypedPacing {
            rate: words(&self.rate),
            arrivals: words(&self.arrivals),
            pacer: words(&self.pacer),
            duration_s: self.duration,
            knee: self.find_knee.then_some(TypedKnee { p99_s: self.knee_p99 }),
        }
    }
}

/// Work on messages in addition to sending and receiving them.
#[derive(Args, Debug)]
struct MessageOptionArguments {
    /// Messages of different sizes instead of -b: sizes with their shares, such as 200B:90%,64KiB:10%, in an order drawn
    /// from the seed. Given again, another mixture is measured as well
    #[arg(long, value_name = "SIZE:SHARE,...", help_heading = MESSAGES)]
    messages: Vec<String>,
    #[arg(help = Factor::Touch.help("Access every payload byte in the measured time: none, write (before sending), \
        read (after receiving), both"))]
    #[arg(long, value_name = "ACCESS", help_heading = MESSAGES)]
    #[arg(value_parser = Known::touches(), hide_possible_values = true)]
    touch: Vec<String>,
    #[arg(help = Factor::Reply.help("Reply of -w request-reply and -w server: echo (the request itself), or a size in bytes"))]
    #[arg(long, value_name = "SIZES", help_heading = MESSAGES)]
    reply: Vec<String>,
    #[arg(help = Factor::Payload.help("Content of messages: constant, random, or compressible:R (R times smaller when \
        compressed; R is 1 to 100)"))]
    #[arg(long, value_name = "CONTENT", help_heading = MESSAGES)]
    payload: Vec<String>,
    #[arg(help = Factor::Buffers.help("Buffers that hold the messages: hot (always the same), rotate (16 in turn), \
        cold (256 MiB of buffers in turn, more than caches hold)"))]
    #[arg(long, value_name = "ORDER", help_heading = MESSAGES)]
    #[arg(value_parser = Known::reuses(), hide_possible_values = true)]
    buffers: Vec<String>,
    #[arg(help = Factor::FirstTouch.help("When buffers are first touched: after-fork (by each peer, before the \
        measured time: no page fault is measured), before-fork (by the parent: pages are copy-on-write, and a fault at \
        the first write to each page is measured), or timed (in the measured time: a fault for every page is measured)"))]
    #[arg(long, value_name = "WHEN", help_heading = MESSAGES)]
    #[arg(value_parser = Known::first_touches(), hide_possible_values = true)]
    first_touch: Vec<String>,
}

impl MessageOptionArguments {
    fn typed(&self) -> TypedMessageOptions<'_> {
        TypedMessageOptions {
            sizes: words(&self.messages),
            touch: words(&self.touch),
            payload: words(&self.payload),
            buffers: words(&self.buffers),
            first_touch: words(&self.first_touch),
            reply: words(&self.reply),
        }
    }
}

fn workload_help() -> String {
    format!("{}. {WHICH_ANSWERED_WORKLOAD}", Known::workloads().described_help("Workloads"))
}

fn placement_help() -> String {
    format!("{}, or {PAIR}", Known::placements().described_help("CPUs of the peers"))
}

fn instruments_help() -> String {
    let is_intrusive = |known: &&Instrument| known.facts.intrusive == Intrusive::Yes;
    let intrusive = ipcperf_observe::INSTRUMENTS.iter().filter(is_intrusive);
    let intrusive: Vec<&str> = intrusive.map(|known| known.facts.name).collect();
    let what = format!(
        "Instruments that observe the runs. Intrusive instruments ({}) slow a case down, so they are used in separate \
         runs, each paired with a run without the instrument. One or more of",
        intrusive.join(", ")
    );
    Known::instruments().help(&what)
}
