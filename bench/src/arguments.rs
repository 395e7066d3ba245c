//! Command-line arguments.

use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::iceoryx2_samples::SamplesArguments;
use crate::output::Form;
use crate::sampling::SamplingLimit;
use crate::tools::PROGRAMS;
use crate::zbus_calls::CallsArguments;
use crate::zmq_pair::PairArguments;

/// Compares ipcperf with programs that use a mechanism directly, with other tools and with hardware limits.
#[derive(Debug, Parser)]
#[command(name = "ipcperf-bench", version, about, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) bench: Bench,
    /// Print one JSON array instead of a table
    #[arg(long, global = true)]
    json: bool,
}

const AFTER_HELP: &str = "\
Exit codes: 0 every bar that can be tested here is met; 1 one is not; 2 usage, or ipcperf is
missing; 3 none can be tested here.";

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Bench {
    /// Pipe and unix-stream against plain C loops, on one CPU
    CLoops(LimitArguments),
    /// D-Bus calls against a minimal program that makes the same calls with zbus, on one CPU
    Dbus(LimitArguments),
    /// ipc-static against plain C loops with the same calls, on one CPU
    Compat(LimitArguments),
    /// iceoryx2 samples against a minimal program that publishes the same samples, on two CPUs
    Iceoryx2(LimitArguments),
    /// The shared-memory ring against iceoryx2, copying and loaning, on two CPUs
    Libraries(LimitArguments),
    /// Cost of the harness per message
    Null,
    /// Whether senders keep their schedules, and whether a planted stall is measured as it was; takes about ten minutes
    Paced,
    /// Workloads with several peers, run with one, compared with those of two peers; takes about four minutes
    Peers,
    /// CPU time that ipcperf reports, compared with that of a control group; takes about five minutes
    CpuTime,
    /// Separately executed programs compared with forked processes; takes about five minutes
    Programs,
    /// Round trips and streams of other tools compared with ours, on one CPU
    Tools(ToolsArguments),
    /// Time of `show` and `report` for large results files
    Reading,
    /// The shared-memory ring against the cache line and memcpy, on two CPUs
    Ring(RingArguments),
    /// Ratios between mechanisms against expected ones, on one CPU
    Shapes(LimitArguments),
    /// Time of `ipcperf list`, `--help`, `run --help` and `--version`
    Startup,
    /// Time of a survey, and whether it is complete
    Survey,
    /// Time until a median is known, effect of a neighbor, detection of modes; takes about six minutes
    Trust,
    /// Probe effect of each instrument on a pipe on one CPU; takes about three minutes
    Instruments,
    /// ZeroMQ against a minimal program that sends the same messages with libzmq, on one CPU
    Zeromq(LimitArguments),
    /// Run all benchmarks, one after another
    All(LimitArguments),
    /// Minimal program that `dbus` starts
    #[command(hide = true)]
    ZbusCalls(CallsArguments),
    /// Minimal program that `iceoryx2` starts
    #[command(hide = true)]
    Iceoryx2Samples(SamplesArguments),
    /// Minimal program that `zeromq` starts
    #[command(hide = true)]
    ZmqPair(PairArguments),
}

/// How long `ring` waits for a distance of the CPUs that has not shown.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct RingArguments {
    /// Maximum extra time while the result at a CPU distance is undecided, s
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub(crate) patience: u64,
}

/// When to stop looking for a narrower interval in `c-loops`, `compat`, `shapes`, `dbus`, `iceoryx2`,
/// `libraries` and `zeromq`.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LimitArguments {
    /// Maximum number of pairs of runs per case
    #[arg(long, value_name = "N", default_value_t = 400)]
    max_pairs: usize,
    /// Maximum time per case, s
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    max_time: u64,
}

/// Which tools, and how many pairs of runs.
#[derive(Args, Clone, Debug)]
pub(crate) struct ToolsArguments {
    /// Number of pairs of runs per case
    #[arg(long, value_name = "N", default_value_t = PAIRS, value_parser = clap::value_parser!(u16).range(6..))]
    pub(crate) pairs: u16,
    /// Only these tools
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', value_parser = PROGRAMS)]
    only: Vec<String>,
}

/// Default number of pairs.
const PAIRS: u16 = 20;

impl ToolsArguments {
    /// Whether the cases of `program` were requested.
    pub(crate) fn includes(&self, program: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == program)
    }
}

impl Default for ToolsArguments {
    fn default() -> Self {
        Self { pairs: PAIRS, only: Vec::new() }
    }
}

impl From<LimitArguments> for SamplingLimit {
    fn from(arguments: LimitArguments) -> Self {
        Self { values: arguments.max_pairs, time: Duration::from_secs(arguments.max_time) }
    }
}

impl Arguments {
    /// Returns the output format.
    pub(crate) fn form(&self) -> Form {
        if self.json { Form::Json } else { Form::Table }
    }
}
