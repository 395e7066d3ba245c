//! `peers`: round trips and streams of ipcperf compared with those of other tools, for the same work.
//!
//! A pair is one run of ours and one of theirs, both in fresh processes, on one CPU, with the same message size and, if
//! the tool accepts one, the same count; the order alternates. Each tool is one file that says how to start it and what
//! its printed figure means. Every figure is converted to the time of an operation: a round trip, or a one-way message.

mod hackbench;
mod iperf3;
mod occupancy;
mod pairs;
mod perf;
mod pinned;
mod qperf;
mod server;
mod sockperf;
mod stress_ng;

use std::process::Command;
use std::time::Duration;

use ipcperf_model::placement::Placement;
use ipcperf_model::workload::WorkloadKind;
use pairs::ToolPairs;
use pinned::Pinned;
use server::Server;

use crate::arguments::ToolsArguments;
use crate::error::BenchError;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::process::run_in_group;
use crate::program::{Ipcperf, cpus, spec};

/// Target duration of our run, and of theirs if they accept one: long enough that the remains of a start inside a
/// figure are small, and so are the ticks in which CPU time is counted.
const AIM: Duration = Duration::from_millis(250);
/// Maximum duration of a run of a tool.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A measurement that both another tool and ipcperf make.
#[derive(Clone, Copy, Debug)]
struct Tool {
    /// Name of the program, which is searched in `PATH`.
    program: &'static str,
    /// Debian package of the program.
    package: &'static str,
    /// Description of the measurement.
    what: &'static str,
    /// Mechanism, workload and size of our run.
    mechanism: &'static str,
    workload: WorkloadKind,
    buffer_bytes: u64,
    bar: Bar,
    /// Command for the server, if the client does not start one itself.
    server: Option<fn(&ToolWork) -> Command>,
    client: fn(&ToolWork) -> Command,
    /// Parses the output of the tool; returns the time of one operation in ns, or `None` for invalid output.
    operation_ns: fn(&str, &ToolWork) -> Option<f64>,
    /// Differences that matter for the comparison.
    convention: &'static str,
}

/// Work of a run.
#[derive(Clone, Copy, Debug)]
struct ToolWork {
    buffer_bytes: u64,
    messages: u64,
    /// Port that is free on the loopback address when the run starts.
    port: u16,
}

/// Names of the programs for `--only`.
pub(crate) const PROGRAMS: [&str; 6] =
    ["perf", "hackbench", "stress-ng", "sockperf", "qperf", "iperf3"];

/// All peers, the most comparable ones first.
const TOOLS: [Tool; 9] = [
    perf::SCHED_PIPE,
    hackbench::PIPE,
    hackbench::SOCKETS,
    stress_ng::PIPE,
    sockperf::TCP,
    sockperf::UDP,
    qperf::TCP,
    qperf::UDP,
    iperf3::TCP,
];

/// Compares ipcperf with every requested tool.
pub(crate) fn measure(ipcperf: &Ipcperf, arguments: &ToolsArguments) -> Vec<Finding> {
    let requested = TOOLS.iter().filter(|peer| arguments.includes(peer.program));
    requested.map(|peer| announce(peer.finding(ipcperf, arguments.pairs))).collect()
}

impl Tool {
    fn finding(&self, ipcperf: &Ipcperf, pairs: u16) -> Finding {
        let question = self.question();
        if !is_installed(self.program) {
            return question.failed(&self.missing());
        }
        let cpu = match cpus(Placement::Same) {
            Err(why) => return question.untestable(why),
            Ok([cpu, _]) => cpu,
        };
        let measured = self.pairs(ipcperf, cpu, pairs).and_then(|pairs| {
            let estimate = pairs.estimate().ok_or(BenchError::NoValues)?;
            Ok((estimate, pairs.note()))
        });
        match measured {
            Ok((estimate, seen)) => {
                question.judge(estimate, Some(format!("{}; {seen}", self.convention)))
            }
            Err(trouble) => question.failed(&trouble),
        }
    }

    fn question(&self) -> Question {
        let (name, size) = (self.workload.name(), bytes(self.buffer_bytes));
        let case = format!("{}: {} {name} {size}", self.what, self.mechanism);
        Question { bench: "peers", case, unit: Unit::Ratio, bar: self.bar }
    }

    fn missing(&self) -> BenchError {
        BenchError::NoTool { program: self.program, package: self.package }
    }

    /// Makes exactly `count` pairs on `cpu`, whatever the results.
    fn pairs(&self, ipcperf: &Ipcperf, cpu: u32, count: u16) -> Result<ToolPairs, BenchError> {
        let spec = spec(self.mechanism, self.workload, [cpu; 2], self.buffer_bytes);
        let spec = ipcperf.calibrate(spec, AIM)?;
        let messages = spec.total_bytes.map_or(1, |total_bytes| total_bytes / self.buffer_bytes);
        let _pinned = Pinned::to(cpu)?;
        let ours = || {
            let measured = ipcperf.measure(&spec)?;
            Ok(float(measured.elapsed_ns) / float(measured.messages.max(1)))
        };
        ToolPairs::take(cpu, count, ours, || self.measure(messages))
    }

    /// Runs the tool once and returns the time of an operation in ns.
    fn measure(&self, messages: u64) -> Result<f64, BenchError> {
        self.run(messages).map_err(|trouble| BenchError::Tool(self.program, Box::new(trouble)))
    }

    fn run(&self, messages: u64) -> Result<f64, BenchError> {
        let work =
            ToolWork { buffer_bytes: self.buffer_bytes, messages, port: server::free_port()? };
        let _server =
            self.server.map(|command| Server::start(command(&work), work.port)).transpose()?;
        let said = run_in_group(&mut (self.client)(&work), TIMEOUT)?;
        let said = String::from_utf8_lossy(&said);
        let figure = (self.operation_ns)(&said, &work);
        figure.filter(|ns| ns.is_finite() && *ns > 0.0).ok_or_else(|| {
            BenchError::UnexpectedOutput {
                program: self.program.to_owned(),
                said: said.chars().take(200).collect(),
            }
        })
    }
}

/// Whether `program` is in `PATH`.
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Returns `program` with the arguments `words`.
fn command<const N: usize>(program: &str, words: [&str; N]) -> Command {
    let mut command = Command::new(program);
    command.args(words);
    command
}

/// Returns the number after the first `before` in `text`, up to the first space, bracket or line end.
fn number_after(text: &str, before: &str) -> Option<f64> {
    let (_, after) = text.split_once(before)?;
    after.trim_start().split(|c: char| c.is_whitespace() || c == '(').next()?.parse().ok()
}

#[allow(clippy::cast_precision_loss, reason = "counts of messages and bytes, below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
