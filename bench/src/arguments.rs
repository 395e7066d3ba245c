//! Command-line arguments.

use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::iceoryx2_samples::SamplesArguments;
use crate::output::Form;
use crate::peers::PROGRAMS;
use crate::sampling::Cap;
use crate::zbus_calls::CallsArguments;
use crate::zmq_pair::PairArguments;

/// Holds the figures of ipcperf against bars, side by side with what they are compared to.
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
    CLoops(CapArguments),
    /// D-Bus calls against a plain program that makes the same with zbus, on one CPU
    Dbus(CapArguments),
    /// ipc-static against plain C loops with the same calls, on one CPU
    DropIns(CapArguments),
    /// iceoryx2 samples against a plain program that publishes the same, on two CPUs
    Iceoryx2(CapArguments),
    /// The shared-memory ring against iceoryx2, copying and loaning, on two CPUs
    Libraries(CapArguments),
    /// What the harness itself costs a message
    Null,
    /// Other tools' round trips and streams beside ours, on one CPU
    Peers(PeersArguments),
    /// How long large results files take to show and to report
    Reading,
    /// The shared-memory ring against the cache line and memcpy, on two CPUs
    Ring(RingArguments),
    /// Ratios between mechanisms that were found beforehand, on one CPU
    Shapes(CapArguments),
    /// How long `ipcperf list`, `--help`, `run --help` and `--version` take
    Startup,
    /// How long a survey takes and whether it is whole
    Survey,
    /// How soon a median is known, what a neighbour does, one mode and two: about six minutes
    Trust,
    /// What being watched does to a pipe on one CPU, by each instrument: about three minutes
    Watching,
    /// ZeroMQ against a plain program that sends the same with libzmq, on one CPU
    Zeromq(CapArguments),
    /// All of them, one after another
    All(CapArguments),
    /// The plain program of `dbus`, for it to start
    #[command(hide = true)]
    ZbusCalls(CallsArguments),
    /// The plain program of `iceoryx2`, for it to start
    #[command(hide = true)]
    Iceoryx2Samples(SamplesArguments),
    /// The plain program of `zeromq`, for it to start
    #[command(hide = true)]
    ZmqPair(PairArguments),
}

/// How long `ring` waits for a distance of the CPUs that has not shown.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct RingArguments {
    /// Go on for so long while a distance, close or far, is not decided, s
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub(crate) patience: u64,
}

/// When to stop looking for a narrower interval in `c-loops`, `drop-ins`, `shapes`, `dbus`, `iceoryx2`,
/// `libraries` and `zeromq`.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct CapArguments {
    /// Most pairs of runs for a case
    #[arg(long, value_name = "N", default_value_t = 400)]
    most_pairs: usize,
    /// Most time for a case, s
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    most_seconds: u64,
}

/// Which tools, and how many pairs of runs.
#[derive(Args, Clone, Debug)]
pub(crate) struct PeersArguments {
    /// Pairs of runs for a case: so many, whatever they say
    #[arg(long, value_name = "N", default_value_t = PAIRS, value_parser = clap::value_parser!(u16).range(6..))]
    pub(crate) pairs: u16,
    /// These tools alone
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', value_parser = PROGRAMS)]
    only: Vec<String>,
}

/// Number of pairs for the bar of `peers`.
const PAIRS: u16 = 20;

impl PeersArguments {
    /// Whether the cases of `program` were requested.
    pub(crate) fn includes(&self, program: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == program)
    }
}

impl Default for PeersArguments {
    fn default() -> Self {
        Self { pairs: PAIRS, only: Vec::new() }
    }
}

impl From<CapArguments> for Cap {
    fn from(arguments: CapArguments) -> Self {
        Self { values: arguments.most_pairs, time: Duration::from_secs(arguments.most_seconds) }
    }
}

impl Arguments {
    /// Returns the output format.
    pub(crate) fn form(&self) -> Form {
        if self.json { Form::Json } else { Form::Table }
    }
}
