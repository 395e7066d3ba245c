//! `instruments`: slowdown of a pipe on one CPU by the instruments `syscalls`, `sched` and `profile`, and by `bpftrace`
//! and `strace` for the work of `syscalls`, in one execution of `ipcperf run --instrument`.
//!
//! Blocks pair each instrumented run with its uninstrumented twin. Runs are calibrated like those of users: a run that
//! is slowed down moves less data; it does not take longer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::process::run_with_input;
use crate::program::Ipcperf;

/// Number of valid blocks.
const BLOCKS: u32 = 20;
/// Limit against hangs.
const TIMEOUT: Duration = Duration::from_secs(900);
const INSTRUMENTS: [&str; 5] = ["syscalls", "sched", "profile", "bpftrace", "strace"];

/// Time per message in each block, by size, instrument, and whether it is the twin's.
type Times = BTreeMap<(u64, String, PairSide), BTreeMap<u32, f64>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PairSide {
    Instrumented,
    Twin,
}

/// Maximum slowdown factors.
const BARS: [(u64, &str, Bar); 20] = [
    (32, "syscalls", Bar::AtMost(2.6)),
    (4 << 10, "syscalls", Bar::AtMost(1.35)),
    (64 << 10, "syscalls", Bar::AtMost(1.12)),
    (1 << 20, "syscalls", Bar::AtMost(1.08)),
    (32, "sched", Bar::None),
    (4 << 10, "sched", Bar::AtMost(1.2)),
    (64 << 10, "sched", Bar::None),
    (1 << 20, "sched", Bar::None),
    (32, "profile", Bar::None),
    (4 << 10, "profile", Bar::AtMost(1.15)),
    (64 << 10, "profile", Bar::None),
    (1 << 20, "profile", Bar::None),
    (32, "bpftrace", Bar::None),
    (4 << 10, "bpftrace", Bar::None),
    (64 << 10, "bpftrace", Bar::None),
    (1 << 20, "bpftrace", Bar::None),
    (32, "strace", Bar::None),
    (4 << 10, "strace", Bar::None),
    (64 << 10, "strace", Bar::None),
    (1 << 20, "strace", Bar::None),
];
/// Extra time of `syscalls` divided by that of `bpftrace`, at this size.
const BPFTRACE_BAR: (u64, Bar) = (4 << 10, Bar::AtMost(1.0 / 3.0));

/// Relevant lines of a results file.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum SampleLine {
    Sample(Sample),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Sample {
    case_id: String,
    block: u32,
    excluded: Option<String>,
    buffer_bytes: u64,
    elapsed_ns: u64,
    messages: u64,
}

/// A results file, removed when dropped.
struct InstrumentsFile(PathBuf);

impl Drop for InstrumentsFile {
    fn drop(&mut self) {
        // It may never have been written.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Measures with instruments and compares their cost with the bars.
pub(crate) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    let name = format!("ipcperf-bench-{}.jsonl", std::process::id());
    let scratch = InstrumentsFile(std::env::temp_dir().join(name));
    let watched = run_instrumented(ipcperf, &scratch.0).and_then(|()| times(&scratch.0));
    let findings = BARS.into_iter().map(|(size, instrument, bar)| {
        let case = format!("pipe {} with {instrument} / without", bytes(size));
        let question = Question { bench: "instruments", case, unit: Unit::Ratio, bar };
        finding(question, &watched, |times| slowdowns(times, size, instrument))
    });
    let case = format!("pipe {}: extra time of syscalls / of bpftrace", bytes(BPFTRACE_BAR.0));
    let third = Question { bench: "instruments", case, unit: Unit::Ratio, bar: BPFTRACE_BAR.1 };
    let third = finding(third, &watched, |times| extra(times, BPFTRACE_BAR.0));
    findings.chain([third]).map(announce).collect()
}

/// Returns the finding for the result of `figures`, if there are times.
fn finding(
    question: Question,
    times: &Result<Times, BenchError>,
    figures: impl Fn(&Times) -> Vec<f64>,
) -> Finding {
    match times {
        Err(trouble) => question.failed(trouble),
        Ok(times) => match Estimate::from_values(&figures(times)) {
            Some(estimate) => question.judge(estimate, None),
            None => question.untestable("no run was instrumented: see ipcperf list instruments"),
        },
    }
}

fn run_instrumented(ipcperf: &Ipcperf, out: &Path) -> Result<(), BenchError> {
    let mut sizes: Vec<String> = BARS.iter().map(|bar| bar.0.to_string()).collect();
    sizes.sort();
    sizes.dedup();
    let (sizes, blocks) = (sizes.join(","), BLOCKS.to_string());
    let instruments = INSTRUMENTS.join(",");
    let mut command = ipcperf.command();
    command.args(["run", "-m", "pipe", "--placement", "same", "-b", &sizes]);
    command.args(["--instrument", &instruments, "--repetitions", &blocks, "--quiet", "--out"]);
    run_with_input(command.arg(out), b"", TIMEOUT).map(drop)
}

fn times(path: &Path) -> Result<Times, BenchError> {
    let wrong = |error| BenchError::File { path: path.to_owned(), error };
    let text = std::fs::read_to_string(path).map_err(wrong)?;
    let mut times = Times::new();
    for line in text.lines() {
        let line = serde_json::from_str(line).map_err(|error| wrong(error.into()))?;
        if let SampleLine::Sample(sample) = line {
            add(&mut times, &sample);
        }
    }
    Ok(times)
}

#[allow(clippy::cast_precision_loss, reason = "a mean, good to 53 bits")]
fn add(times: &mut Times, sample: &Sample) {
    let part = sample.case_id.rsplit('/').next().unwrap_or_default();
    let (standing, instrument) = match part.split_once('=') {
        Some(("instrument", name)) => (PairSide::Instrumented, name),
        Some(("twin-of", name)) => (PairSide::Twin, name),
        _ => return,
    };
    if sample.excluded.is_none() && sample.messages > 0 {
        let of_case =
            times.entry((sample.buffer_bytes, instrument.to_owned(), standing)).or_default();
        of_case.insert(sample.block, sample.elapsed_ns as f64 / sample.messages as f64);
    }
}

/// Returns times per message by block, instrumented and not.
fn pairs(times: &Times, size: u64, instrument: &str) -> BTreeMap<u32, [f64; 2]> {
    let of = |standing| times.get(&(size, instrument.to_owned(), standing));
    let (Some(watched), Some(twin)) = (of(PairSide::Instrumented), of(PairSide::Twin)) else {
        return BTreeMap::new();
    };
    watched.iter().filter_map(|(block, ns)| Some((*block, [*ns, *twin.get(block)?]))).collect()
}

fn slowdowns(times: &Times, size: u64, instrument: &str) -> Vec<f64> {
    pairs(times, size, instrument).values().map(|[watched, twin]| watched / twin).collect()
}

/// Returns the time that `syscalls` adds to a message divided by that which `bpftrace` adds, by block.
fn extra(times: &Times, size: u64) -> Vec<f64> {
    let [ours, theirs] = ["syscalls", "bpftrace"].map(|name| pairs(times, size, name));
    let added = |[watched, twin]: &[f64; 2]| watched - twin;
    ours.iter().filter_map(|(block, pair)| Some(added(pair) / added(theirs.get(block)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(case: &str, block: u32, ns: u64) -> Sample {
        let case_id = format!("pipe/stream/2proc/same/4096/{case}");
        let excluded = (block == 0).then(|| "first".to_owned());
        Sample { case_id, block, excluded, buffer_bytes: 4_096, elapsed_ns: ns * 10, messages: 10 }
    }

    #[test]
    fn blocks_pair_what_is_watched_with_its_twin() {
        let mut times = Times::new();
        for block in 0..3 {
            for (case, ns) in [
                ("twin-of=syscalls", 100),
                ("instrument=syscalls", 130),
                ("twin-of=bpftrace", 100),
                ("instrument=bpftrace", 400),
            ] {
                add(&mut times, &sample(case, block, ns));
            }
        }
        add(&mut times, &sample("instrument=syscalls", 7, 1));
        assert_eq!(
            slowdowns(&times, 4_096, "syscalls"),
            [1.3, 1.3],
            "the first block is set aside"
        );
        assert_eq!(extra(&times, 4_096), [0.1, 0.1]);
        assert_eq!(slowdowns(&times, 64, "syscalls"), [0.0; 0]);
    }
}
