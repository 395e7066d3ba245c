//! `lat_pipe`, `lat_unix`, `lat_tcp`, `bw_pipe`, `bw_unix`, `bw_tcp`: names, options and output lines of lmbench 3.

use std::num::NonZeroU64;
use std::thread;

use clap::{Arg, ArgMatches, Command, value_parser};
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{MeasuredPhase, PhasePause, RunSpec, WarmUp};
use ipcperf_stats::median;

use super::getopt::{
    command, flag, flag_with_value, has_flag, parse, positive_flag, positive_value,
    usage as usage_of,
};
use super::program_exit::{EXIT_FAILURE, ProgramExit};
use super::program_runner::{ProgramRunner, repeats, with_options};
use super::{Invocation, Program, print_error_line};

const REPEATED: &str = "All `-N` repetitions run in one pair of processes, and their median is \
    printed. A repetition takes about 21 ms.";
const WARMED: &str = "`-W` runs one warm-up phase before the repetitions. This phase lasts about as long as \
    requested, but at most about 100 ms.";
const SOCKETS: &str =
    "Socket buffers have the system's default sizes. With TCP, Nagle's algorithm is on.";

/// The latency programs.
pub(super) const LATENCIES: Program = Program {
    names: &["lat_pipe", "lat_unix", "lat_tcp"],
    about: "round-trip time of a message, µs (lmbench 3)",
    differences: &[
        REPEATED,
        WARMED,
        "The pairs of processes that `-P` requests start one after another, and then run concurrently. The average \
            of their latencies is printed.",
        "The server of `lat_tcp` always runs on this machine: `-s` and `-S` have no effect, and the name of \
            another host is refused.",
        SOCKETS,
    ],
    usage,
    run,
};

/// The bandwidth programs.
pub(super) const BANDWIDTHS: Program = Program {
    names: &["bw_pipe", "bw_unix", "bw_tcp"],
    about: "bandwidth of a stream, MB/s (1 MB is 1,000,000 bytes; lmbench 3)",
    differences: &[
        REPEATED,
        WARMED,
        "With `-M`, a repetition moves the given number of bytes, however long that takes, and \
            there is no warm-up.",
        "`-M` is rounded up to the next multiple of the message size. lmbench also rounds up, but to more than the \
            next multiple.",
        "The pairs of processes that `-P` requests start one after another, and then run concurrently. The sum of \
            their bandwidths is printed.",
        "The server of `bw_tcp` always runs on this machine: `-s` and `-S` have no effect, and the name of another \
            host is refused.",
        SOCKETS,
    ],
    usage,
    run,
};

/// Exit code of lmbench for wrong usage.
const WRONG_USAGE: u8 = 255;
/// Default number of repetitions.
const REPETITIONS: u64 = 11;
/// Maximum of `-P`: each pair needs a thread in this process, seven descriptors and three processes.
const MAX_PAIRS: u64 = 128;
/// Default message size of a stream, in bytes.
const STREAM_BYTES: u64 = 64 << 10;
/// Names of this host.
const LOCAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Measurement of one of the programs.
#[derive(Clone, Copy, Debug)]
struct Benchmark {
    workload: WorkloadKind,
    mechanism: &'static str,
}

impl Benchmark {
    fn from_name(name: &str) -> Self {
        let workload =
            if name.starts_with("lat_") { WorkloadKind::RoundTrip } else { WorkloadKind::Stream };
        let mechanism = match name.rsplit('_').next() {
            Some("unix") => "unix-stream",
            Some("tcp") => "tcp",
            _ => "pipe",
        };
        Self { workload, mechanism }
    }

    fn is_tcp(self) -> bool {
        self.mechanism == "tcp"
    }
}

fn usage(name: &str) -> String {
    usage_of(parser(name))
}

fn parser(name: &str) -> Command {
    let subject = Benchmark::from_name(name);
    let total = flag_with_value("M", "total bytes", "Bytes per repetition, for example 64k or 10m")
        .value_parser(parse_size);
    let message = flag_with_value("m", "message size", "Bytes per message, for example 512 or 64k")
        .value_parser(parse_size);
    let tcp = [
        flag("s", "Start a server (no effect)").exclusive(true),
        flag_with_value("S", "server", "Stop the server (no effect)").exclusive(true),
        Arg::new(SERVER).value_name("server").required_unless_present_any(["s", "S"]),
    ];
    let takes = command(name, usage_line(subject))
        .args([
            message,
            flag_with_value("P", "parallelism", "Number of concurrent pairs, at most 128 [1]")
                .value_parser(value_parser!(u64).range(1..=MAX_PAIRS)),
            flag_with_value("W", "warmup", "Warm-up before the first repetition, µs [0]")
                .value_parser(value_parser!(u64)),
            positive_flag("N", "repetitions", "Number of repetitions [11]"),
        ])
        .args((subject.workload == WorkloadKind::Stream).then_some(total));
    if subject.is_tcp() { takes.args(tcp) } else { takes }
}

const SERVER: &str = "server";

fn usage_line(subject: Benchmark) -> &'static str {
    match (subject.workload, subject.is_tcp()) {
        (WorkloadKind::Stream, true) => {
            "-s\n   or: [-m <message size>] [-M <total bytes>] [-P <parallelism>] [-W <warmup>] \
             [-N <repetitions>] server\n   or: -S server"
        }
        (WorkloadKind::Stream, false) => {
            "[-m <message size>] [-M <total bytes>] [-P <parallelism>] [-W <warmup>] [-N <repetitions>]"
        }
        (_, true) => {
            "-s\n   or: [-m <message size>] [-P <parallelism>] [-W <warmup>] [-N <repetitions>] server\n   \
             or: -S server"
        }
        (_, false) => "[-m <message size>] [-P <parallelism>] [-W <warmup>] [-N <repetitions>]",
    }
}

/// Parses `512`, `64k`, `10m`, `1g`: powers of 1,024, as in lmbench.
fn parse_size(text: &str) -> Result<NonZeroU64, String> {
    let (digits, shift) = match text.to_ascii_lowercase().chars().last() {
        Some('k') => (&text[..text.len() - 1], 10),
        Some('m') => (&text[..text.len() - 1], 20),
        Some('g') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: u64 = digits.parse().map_err(|_| format!("`{text}` is not a size"))?;
    let bytes = number.checked_mul(1 << shift).and_then(NonZeroU64::new);
    bytes.ok_or_else(|| format!("`{text}` is not a size"))
}

fn run(call: &Invocation<'_>) -> Result<(), ProgramExit> {
    let subject = Benchmark::from_name(call.name);
    let typed = parse(parser(call.name), call, WRONG_USAGE)?;
    if subject.is_tcp() && (has_flag(&typed, "s") || typed.contains_id("S")) {
        return Ok(());
    }
    let server = if subject.is_tcp() { Some(server(call.name, &typed)?) } else { None };
    let spec = run_spec(subject, &typed);
    let pairs = typed.get_one::<u64>("P").copied().unwrap_or(1);
    let measured = measure_pairs(call.name, &spec, pairs).map_err(ProgramExit::into_failed)?;
    print_error_line(&line(subject, &spec, server, &measured))
}

/// Returns the host that was named, which must be this one.
fn server<'a>(name: &str, typed: &'a ArgMatches) -> Result<&'a str, ProgramExit> {
    let server = typed.get_one::<String>(SERVER).map_or(LOCAL_NAMES[0], String::as_str);
    let here = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if LOCAL_NAMES.contains(&server) || server == here {
        return Ok(server);
    }
    let words =
        format!("{name}: {server} is another machine; only processes of this machine are measured");
    Err(ProgramExit { code: EXIT_FAILURE, message: words })
}

fn run_spec(subject: Benchmark, typed: &ArgMatches) -> RunSpec {
    let size = |letter: &str| typed.get_one::<NonZeroU64>(letter).map(|bytes| bytes.get());
    let usual_bytes = if subject.workload == WorkloadKind::Stream { STREAM_BYTES } else { 1 };
    let buffer_bytes = size("m").unwrap_or(usual_bytes);
    let total_bytes = if subject.workload == WorkloadKind::Stream { size("M") } else { None };
    let repetitions = positive_value(typed, "N").unwrap_or(REPETITIONS);
    let warm_up_us = typed.get_one::<u64>("W").copied().unwrap_or(0);
    let spec = RunSpec {
        workload: subject.workload,
        total_bytes: total_bytes.map(|bytes| whole_messages(bytes, buffer_bytes)),
        warm_up: WarmUp::ForNs(warm_up_us.saturating_mul(1_000)),
        repeats: repeats(repetitions.try_into().unwrap_or(u32::MAX), PhasePause::None),
        ..RunSpec::with_defaults(subject.mechanism, buffer_bytes)
    };
    if subject.is_tcp() { with_options(spec, &[("nodelay", "off")]) } else { spec }
}

/// Rounds `bytes` up to whole messages, as lmbench does.
fn whole_messages(bytes: u64, buffer_bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(buffer_bytes).unwrap_or(bytes)
}

/// Measures `pairs` pairs at once and returns the repetitions of each.
fn measure_pairs(
    name: &str,
    spec: &RunSpec,
    pairs: u64,
) -> Result<Vec<Vec<MeasuredPhase>>, ProgramExit> {
    let measure = || Ok(ProgramRunner::new(name)?.measure(spec)?.repeats);
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, measure);
        let started: Vec<_> = (0..pairs).map(start).collect();
        let join = |one: std::io::Result<thread::ScopedJoinHandle<'_, _>>| match one {
            Ok(one) => {
                one.join().unwrap_or_else(|_| Err(ProgramExit::os_error("a thread panicked")))
            }
            Err(error) => {
                Err(ProgramExit::os_error(&format!("{name}: starting a thread: {error}")))
            }
        };
        started.into_iter().map(join).collect()
    })
}

/// Formats the line of lmbench. Each pair counts with its median over the repetitions: latencies are averaged over the
/// pairs, bandwidths are summed.
#[allow(
    clippy::cast_precision_loss,
    reason = "figures, four digits behind the point of which are printed"
)]
fn line(
    subject: Benchmark,
    spec: &RunSpec,
    server: Option<&str>,
    pairs: &[Vec<MeasuredPhase>],
) -> String {
    let sum_of_medians = |figure: &dyn Fn(&MeasuredPhase) -> f64| {
        let of_pair = |repeats: &Vec<MeasuredPhase>| {
            median(&repeats.iter().map(figure).collect::<Vec<_>>()).unwrap_or(f64::NAN)
        };
        pairs.iter().map(of_pair).sum::<f64>()
    };
    let what = match subject.mechanism {
        "unix-stream" => "AF_UNIX sock stream",
        "tcp" => "TCP",
        _ => "Pipe",
    };
    if subject.workload == WorkloadKind::RoundTrip {
        let us = sum_of_medians(&|one| one.elapsed_ns as f64 / one.messages as f64 / 1e3);
        let of = server.map_or_else(String::new, |server| format!(" using {server}"));
        return format!("{what} latency{of}: {:.4} microseconds", us / pairs.len() as f64);
    }
    let bytes = |one: &MeasuredPhase| one.messages.saturating_mul(spec.buffer_bytes) as f64;
    let rate = sum_of_medians(&|one| bytes(one) * 1e3 / one.elapsed_ns as f64);
    match server {
        Some(_) => format!("{:.6} {rate:.2} MB/sec", spec.buffer_bytes as f64 / 1e6),
        None => format!("{what} bandwidth: {rate:.2} MB/sec"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeat(elapsed_ns: u64, messages: u64) -> MeasuredPhase {
        MeasuredPhase { elapsed_ns, messages, roles: Vec::new() }
    }

    #[test]
    fn lines_are_those_of_lmbench() {
        let result_line = |name, server, pairs: &[Vec<MeasuredPhase>]| {
            let subject = Benchmark::from_name(name);
            line(subject, &RunSpec::with_defaults(subject.mechanism, 1_000_000), server, pairs)
        };
        let trips =
            [vec![repeat(5_000_000, 1_000), repeat(7_000_000, 1_000), repeat(6_000_000, 1_000)]];
        assert_eq!(result_line("lat_pipe", None, &trips), "Pipe latency: 6.0000 microseconds");
        let words = "AF_UNIX sock stream latency: 6.0000 microseconds";
        assert_eq!(result_line("lat_unix", None, &trips), words);
        let words = "TCP latency using localhost: 6.0000 microseconds";
        assert_eq!(result_line("lat_tcp", Some("localhost"), &trips), words);
        let streams = [vec![repeat(500_000_000, 1_000)], vec![repeat(1_000_000_000, 1_000)]];
        assert_eq!(result_line("bw_pipe", None, &streams), "Pipe bandwidth: 3000.00 MB/sec");
        assert_eq!(result_line("bw_tcp", Some("localhost"), &streams), "1.000000 3000.00 MB/sec");
    }

    #[test]
    fn sizes_have_lmbenchs_letters() {
        let of = |text| parse_size(text).map(NonZeroU64::get).ok();
        assert_eq!([of("512"), of("64k"), of("10M")], [Some(512), Some(65_536), Some(10 << 20)]);
        for wrong in ["0", "k", "", "-1", "1.5m", "99999999999g", "1é"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
