//! `reading`: time to show and to report a large results file.
//!
//! The files are expanded from a small one that is measured first, so that every line, including its histogram, comes
//! from a real run.

mod large;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use large::FileShape;

use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::{announce, print_message};
use crate::process::run_with_input;
use crate::program::Ipcperf;

/// From the start of `ipcperf show` to its end, ns.
const SHOW_BAR: Bar = Bar::AtMost(1e9);
/// From the start of `ipcperf report` to its end, ns.
const REPORT_BAR: Bar = Bar::AtMost(2e9);
/// Size of the report, bytes.
const SIZE_BAR: Bar = Bar::AtMost(20e6);
/// Number of runs of each command, after one that does not count: the file may still be on its way to the disk then.
const RUNS: usize = 11;
/// Limit against hangs.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The small measurement: both workloads, and round trips with histograms.
const SMALL: &str = "run --mechanism pipe,unix-stream,unix-dgram,tcp --workload stream,round-trip \
                     --buffer 64,64KiB --placement same --repetitions 10 --attempts 1 --quiet --out";

const MANY_CASES: FileShape = FileShape { cases: 10_000, repetitions: 10 };
const MANY_REPETITIONS: FileShape = FileShape { cases: 100, repetitions: 1_000 };

/// A temporary folder, removed when dropped.
struct TempFolder(PathBuf);

impl TempFolder {
    fn new() -> Result<Self, BenchError> {
        let path = std::env::temp_dir().join(format!("ipcperf-bench-{}", std::process::id()));
        match std::fs::create_dir(&path) {
            Ok(()) => Ok(Self(path)),
            Err(error) => Err(BenchError::File { path, error }),
        }
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        // A folder that cannot be removed is no reason to fail.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Shows both files and reports the one with many cases.
pub(crate) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    match TempFolder::new().and_then(|scratch| Ok((files(ipcperf, &scratch.0)?, scratch))) {
        Err(trouble) => vec![announce(show(MANY_CASES).failed(&trouble))],
        Ok(([many_cases, many_repetitions], scratch)) => {
            let shown = |shape: FileShape, file| {
                announce(show(shape).answer(times(&mut || {
                    let mut command = ipcperf.command();
                    command.arg("show").arg(file);
                    command
                })))
            };
            let mut findings =
                vec![shown(MANY_CASES, &many_cases), shown(MANY_REPETITIONS, &many_repetitions)];
            findings.extend(report(ipcperf, &many_cases, &scratch.0.join("report.html")));
            findings
        }
    }
}

/// Writes the two large files in `folder`.
fn files(ipcperf: &Ipcperf, folder: &Path) -> Result<[PathBuf; 2], BenchError> {
    let small = folder.join("small.jsonl");
    let mut command = ipcperf.command();
    run_with_input(command.args(SMALL.split_whitespace()).arg(&small), b"", TIMEOUT)?;
    let write = |shape: FileShape| {
        print_message(&format!("reading: writing {shape}"));
        let path = folder.join(format!("{}.jsonl", shape.cases));
        large::write(&small, &path, shape).map(|()| path)
    };
    Ok([write(MANY_CASES)?, write(MANY_REPETITIONS)?])
}

fn show(shape: FileShape) -> Question {
    let case = format!("ipcperf show, {shape}");
    Question { bench: "reading", case, unit: Unit::Ns, bar: SHOW_BAR }
}

/// Measures the time and the size of a report, if this ipcperf can write one.
fn report(ipcperf: &Ipcperf, file: &Path, out: &Path) -> [Finding; 2] {
    let question = |unit, bar| {
        let case = format!("ipcperf report, {MANY_CASES}");
        Question { bench: "reading", case, unit, bar }
    };
    let (time, size) = (question(Unit::Ns, REPORT_BAR), question(Unit::Bytes, SIZE_BAR));
    if run_with_input(ipcperf.command().args(["report", "--help"]), b"", TIMEOUT).is_err() {
        return [time, size]
            .map(|one| announce(one.untestable("this ipcperf was built without reports")));
    }
    let taken = times(&mut || {
        let mut command = ipcperf.command();
        command.arg("report").arg(file).arg("-o").arg(out);
        command
    });
    [announce(time.answer(taken)), announce(size.answer(bytes(out)))]
}

#[allow(clippy::cast_precision_loss, reason = "megabytes")]
fn bytes(path: &Path) -> Result<Estimate, BenchError> {
    let metadata = std::fs::metadata(path);
    let metadata = metadata.map_err(|error| BenchError::File { path: path.to_owned(), error })?;
    Ok(Estimate::single(metadata.len() as f64))
}

/// Returns the duration, in ns, of the commands that `command` creates.
#[allow(clippy::cast_precision_loss, reason = "seconds in ns")]
fn times(command: &mut dyn FnMut() -> Command) -> Result<Estimate, BenchError> {
    let mut take = || {
        let mut command = command();
        let start = Instant::now();
        run_with_input(&mut command, b"", TIMEOUT)?;
        Ok(start.elapsed().as_nanos() as f64)
    };
    take()?;
    let times = (0..RUNS).map(|_| take()).collect::<Result<Vec<f64>, BenchError>>()?;
    Estimate::from_values(&times).ok_or(BenchError::NoValues)
}
