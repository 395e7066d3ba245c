//! A receiver that is stopped for 100 ms in a run of 2 s: the latencies must show the stall as it was.
//!
//! A message that is due `k` gaps after the stall begins waits until the receiver goes on, and then until the `k` messages
//! before it are drained. Of `N` messages, (1 - q) N are slower than the q-quantile, so
//!
//! ```text
//! quantile(q) = stall - (1 - q) N (gap - drain)
//! ```
//!
//! where `drain` is the time that the mechanism takes for a message of an unpaced stream.

use std::fs::read_to_string;
use std::thread;
use std::time::{Duration, Instant};

use ipcperf_model::placement::Placement;
use ipcperf_model::round_trip_histogram::pool;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{KernelBuffer, Latencies, PacedMeasurement, RunSpec};
use rustix::process::{Pid, Signal, kill_process};

use super::{MESSAGE_BYTES, paced_part, paced_spec};
use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::announce;
use crate::program::{Ipcperf, cpus, spec};

/// Messages per second, and in all: 2 s.
const RATE_PER_S: u64 = 10_000;
const MESSAGES: u64 = 20_000;
/// Planned duration of the stall, and its start after the peers have appeared, while messages are sent.
const STALL: Duration = Duration::from_millis(100);
const STALL_START: Duration = Duration::from_millis(900);
/// Number of runs for each mechanism.
const RUNS: u64 = 20;
/// Quantiles that are compared; 1 is the maximum.
const QUANTILES: [f64; 4] = [0.98, 0.99, 0.999, 1.0];
/// Maximum relative difference from the arithmetic.
const TOLERANCE: f64 = 0.05;
/// Maximum ratio of p99 from the send to p99 from the schedule, if the channel holds fewer than 199 messages.
const HIDDEN_BAR: Bar = Bar::AtMost(0.1);
/// Maximum difference of the two if the channel holds them all.
const SHOWN_BAR: Bar = Bar::Between(0.95, 1.05);
/// A run in which a gap of the sender is longer was disturbed itself: this is more than 5 % of p98.
const MAX_GAP_NS: u64 = 2_000_000;
/// Maximum number of disturbed runs for each mechanism.
const MAX_DISTURBED: u64 = 20;

/// A mechanism whose channel holds few or many messages.
struct Channel {
    name: &'static str,
    mechanism: &'static str,
    option: Option<(&'static str, &'static str)>,
    kernel_buffer: KernelBuffer,
    /// Ratio of p99 from the send to p99 from the schedule.
    ratio: Bar,
}

const DEFAULT: Channel = Channel {
    name: "pipe",
    mechanism: "pipe",
    option: None,
    kernel_buffer: KernelBuffer::Default,
    ratio: SHOWN_BAR,
};

const CHANNELS: [Channel; 8] = [
    Channel {
        name: "pipe of 4 KiB",
        option: Some(("capacity", "4096")),
        ratio: HIDDEN_BAR,
        ..DEFAULT
    },
    Channel {
        name: "tcp, least buffers",
        mechanism: "tcp",
        kernel_buffer: KernelBuffer::Bytes(1),
        ratio: HIDDEN_BAR,
        ..DEFAULT
    },
    Channel {
        name: "shm-ring, some 110 messages",
        mechanism: "shm-ring",
        option: Some(("capacity", "8192")),
        ratio: HIDDEN_BAR,
        ..DEFAULT
    },
    Channel {
        name: "unix-stream, some 40 messages",
        mechanism: "unix-stream",
        kernel_buffer: KernelBuffer::Bytes(16 << 10),
        ratio: HIDDEN_BAR,
        ..DEFAULT
    },
    DEFAULT,
    Channel { name: "tcp", mechanism: "tcp", ..DEFAULT },
    // 278 messages: more than the 200 that are slower than p99, so most of the delay is seen from the send, too.
    Channel { name: "unix-stream", mechanism: "unix-stream", ratio: Bar::None, ..DEFAULT },
    Channel { name: "shm-ring", mechanism: "shm-ring", ..DEFAULT },
];

pub(super) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    CHANNELS.iter().flat_map(|channel| measure_channel(ipcperf, channel)).collect()
}

fn measure_channel(ipcperf: &Ipcperf, channel: &Channel) -> Vec<Finding> {
    let question = |case: String, unit, bar| Question { bench: "paced", case, unit, bar };
    let name = channel.name;
    #[allow(clippy::cast_precision_loss, reason = "20 runs")]
    let all = Bar::AtLeast(RUNS as f64);
    let agree = question(format!("stall, {name}: runs that agree, of {RUNS}"), Unit::Runs, all);
    let ratio = question(
        format!("stall, {name}: p99 from the send / from the schedule"),
        Unit::Ratio,
        channel.ratio,
    );
    let cpus = match cpus(Placement::Split) {
        Ok(cpus) => cpus,
        Err(why) => return vec![announce(agree.untestable(&why)), announce(ratio.untestable(why))],
    };
    match stalled_runs(ipcperf, channel, cpus) {
        Err(trouble) => vec![announce(agree.failed(&trouble)), announce(ratio.failed(&trouble))],
        Ok(stalls) => {
            let right = stalls.differences.iter().filter(|worst| **worst <= TOLERANCE).count();
            #[allow(clippy::cast_precision_loss, reason = "20 runs")]
            let right = Estimate::single(right as f64);
            let ratios = Estimate::from_values(&stalls.ratios).ok_or(BenchError::NoValues);
            vec![announce(agree.judge(right, Some(stalls.note()))), announce(ratio.answer(ratios))]
        }
    }
}

/// Results of the runs with a stall.
#[derive(Debug, Default)]
struct StalledRuns {
    /// Largest relative difference of a quantile from the arithmetic, for each run.
    differences: Vec<f64>,
    /// p99 from the send, divided by p99 from the schedule.
    ratios: Vec<f64>,
    disturbed: u64,
    drain_ns: f64,
}

impl StalledRuns {
    fn note(&self) -> String {
        let worst = self.differences.iter().copied().fold(0.0, f64::max);
        let (drain_ns, disturbed) = (self.drain_ns, self.disturbed);
        format!(
            "largest difference {:.1} %, drain {drain_ns:.0} ns a message, {disturbed} disturbed runs repeated",
            100.0 * worst
        )
    }
}

fn stalled_runs(
    ipcperf: &Ipcperf,
    channel: &Channel,
    cpus: [u32; 2],
) -> Result<StalledRuns, BenchError> {
    let stream = channel.spec(spec(channel.mechanism, WorkloadKind::Stream, cpus, MESSAGE_BYTES));
    let pilot = ipcperf.measure(&stream)?;
    #[allow(clippy::cast_precision_loss, reason = "a mean, good to 53 bits")]
    let drain_ns = pilot.elapsed_ns as f64 / pilot.messages.max(1) as f64;
    let mut stalls = StalledRuns { drain_ns, ..StalledRuns::default() };
    let mut seed = 0;
    while stalls.differences.len() < usize::try_from(RUNS).unwrap_or(usize::MAX) {
        seed += 1;
        let spec = paced_spec(channel.mechanism, cpus, (RATE_PER_S, MESSAGES), seed);
        let (paced, stall) = run_with_stall(ipcperf, &channel.spec(spec))?;
        let gap_ns = paced.pacer.in_gap.max_ns.unwrap_or(0);
        if gap_ns > MAX_GAP_NS && stalls.disturbed < MAX_DISTURBED {
            stalls.disturbed += 1;
            continue;
        }
        stalls.differences.push(largest_difference(&paced.from_schedule, stall, drain_ns)?);
        stalls
            .ratios
            .push(quantile(&paced.from_send, 0.99)? / quantile(&paced.from_schedule, 0.99)?);
    }
    Ok(stalls)
}

impl Channel {
    fn spec(&self, spec: RunSpec) -> RunSpec {
        let options =
            self.option.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        RunSpec { options: options.collect(), kernel_buffer: self.kernel_buffer, ..spec }
    }
}

/// Returns the largest relative difference of a quantile from the arithmetic.
#[allow(clippy::cast_precision_loss, reason = "times, good to 53 bits")]
fn largest_difference(
    latencies: &Latencies,
    stall: Duration,
    drain_ns: f64,
) -> Result<f64, BenchError> {
    let gap_ns = 1e9 / RATE_PER_S as f64;
    let mut worst = 0.0_f64;
    for q in QUANTILES {
        let slower = (1.0 - q) * MESSAGES as f64;
        let expected_ns = stall.as_nanos() as f64 - slower * (gap_ns - drain_ns);
        worst = worst.max((quantile(latencies, q)? / expected_ns - 1.0).abs());
    }
    Ok(worst)
}

/// Returns the q-quantile of latencies, ns.
#[allow(clippy::cast_precision_loss, reason = "counts and times, good to 53 bits")]
fn quantile(latencies: &Latencies, q: f64) -> Result<f64, BenchError> {
    let unreadable =
        |said| BenchError::UnexpectedOutput { program: "ipcperf worker".to_owned(), said };
    let counts = pool([latencies.histogram.as_str()]).map_err(unreadable)?;
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let mut below = 0;
    for (value, count) in &counts {
        below += count;
        if below as f64 >= q * all as f64 {
            return Ok(*value as f64);
        }
    }
    Err(BenchError::NoValues)
}

/// Runs `spec`, and stops its receiver meanwhile. Returns the measured duration of the stall.
fn run_with_stall(
    ipcperf: &Ipcperf,
    spec: &RunSpec,
) -> Result<(PacedMeasurement, Duration), BenchError> {
    thread::scope(|scope| {
        let run = scope.spawn(|| ipcperf.measure(spec));
        let stall = stop_receiver();
        let measured = run.join().map_err(|_| BenchError::NoValues)??;
        Ok((paced_part(measured)?, stall?))
    })
}

/// Stops the receiver of the run in progress for [`STALL`]. It is the second child of the worker.
fn stop_receiver() -> Result<Duration, BenchError> {
    let start = Instant::now();
    let receiver = loop {
        let peers = children(std::process::id()).into_iter().flat_map(children).collect::<Vec<_>>();
        match peers[..] {
            [_, receiver] => break receiver,
            _ if start.elapsed() > STALL_START => return Err(BenchError::NoValues),
            _ => thread::sleep(Duration::from_millis(1)),
        }
    };
    let pid = i32::try_from(receiver).ok().and_then(Pid::from_raw).ok_or(BenchError::NoValues)?;
    let send =
        |signal| kill_process(pid, signal).map_err(|errno| BenchError::System("kill", errno));
    thread::sleep(STALL_START);
    send(Signal::STOP)?;
    let stopped = Instant::now();
    thread::sleep(STALL);
    let stall = stopped.elapsed();
    send(Signal::CONT)?;
    Ok(stall)
}

/// Returns the children of all threads of process `pid`, in the order of their start.
fn children(pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| read_to_string(thread.path().join("children")).ok());
    let mut children: Vec<u32> = lists
        .flat_map(|list| {
            list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()
        })
        .collect();
    children.sort_unstable();
    children
}
