//! A run of the command as a user makes it, and its results.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::error::BenchError;
use crate::process::run_with_input;
use crate::program::Ipcperf;

/// Limit against hangs, longer than any execution here.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Results of one execution of the command.
#[derive(Clone, Debug)]
pub(super) struct Execution {
    /// Samples in the order of their execution.
    pub(super) runs: Vec<Run>,
    /// Total duration of all runs.
    pub(super) elapsed_ns: u64,
}

/// A sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) block: u64,
    /// Whether it is marked as disturbed.
    pub(super) is_disturbed: bool,
    /// Start and end, in ns on the monotonic clock.
    pub(super) span_ns: [u64; 2],
    /// Bandwidth or mean round trip.
    pub(super) figure: f64,
}

impl Execution {
    /// Runs `ipcperf run` with `arguments`, separated by spaces.
    pub(super) fn run(ipcperf: &Ipcperf, arguments: &str) -> Result<Self, BenchError> {
        let file = ResultsFile::new();
        let mut command = ipcperf.command();
        command.args(["run", "--quiet", "--force", "--out"]).arg(&file.0);
        run_with_input(command.args(arguments.split_whitespace()), b"", TIMEOUT)?;
        let text = std::fs::read_to_string(&file.0)
            .map_err(|error| BenchError::Io("reading results".to_owned(), error))?;
        let lines: Vec<Value> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let elapsed_ns = lines.last().and_then(|footer| footer["elapsed_ns"].as_u64());
        Ok(Self {
            runs: lines.iter().filter(|line| line["kind"] == "sample").filter_map(run).collect(),
            elapsed_ns: elapsed_ns.ok_or_else(|| nonsense("no footer"))?,
        })
    }

    /// Returns the runs without the first block, which is excluded.
    pub(super) fn counted_runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| run.block > 0)
    }

    /// Returns the median of the valid runs.
    pub(super) fn median(&self) -> Option<f64> {
        let kept = self.counted_runs().filter(|run| !run.is_disturbed).map(|run| run.figure);
        ipcperf_stats::median(&kept.collect::<Vec<_>>())
    }
}

fn nonsense(said: &str) -> BenchError {
    BenchError::UnexpectedOutput { program: "ipcperf run".to_owned(), said: said.to_owned() }
}

fn run(sample: &Value) -> Option<Run> {
    let began_ns = sample["began_ns"].as_u64()?;
    let figure = &sample["round_trip_ns_mean"];
    let figure = if figure.is_null() { &sample["bandwidth_bytes_per_s"] } else { figure };
    Some(Run {
        block: sample["block"].as_u64()?,
        is_disturbed: sample["excluded"].as_str().is_some_and(|cause| cause != "first"),
        span_ns: [began_ns, began_ns + sample["elapsed_ns"].as_u64()?],
        figure: figure.as_f64()?,
    })
}

/// A results file, removed when dropped.
struct ResultsFile(PathBuf);

impl ResultsFile {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("ipcperf-bench-{}.jsonl", std::process::id())))
    }
}

impl Drop for ResultsFile {
    fn drop(&mut self) {
        // It may never have been written.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_sample_is_read_with_its_mark_and_its_span() {
        let sample = json!({
            "block": 3, "excluded": "disturbed", "began_ns": 100, "elapsed_ns": 20,
            "round_trip_ns_mean": null, "bandwidth_bytes_per_s": 5_000,
        });
        let run = run(&sample).unwrap();
        assert!(run.is_disturbed && run.block == 3);
        assert_eq!(run.span_ns, [100, 120]);
        assert!((run.figure - 5_000.0).abs() < 1e-9);
        assert!(self::run(&json!({"block": 3})).is_none());
    }
}
