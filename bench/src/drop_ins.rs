//! `drop-ins`: `ipc-static -B` against plain C loops with the same calls, on one CPU.
//!
//! A pair is one run of each, with the same total; who goes first takes turns. What is compared is what the
//! program prints after `time:`, so arguments, fork and text are in it, if they should cost anything.

use std::process::Command;
use std::time::Duration;

use ipcperf_engine::placement::Placement;
use ipcperf_engine::workload::Kind;
use ipcperf_engine::{KernelBuffer, RunSpec};

use crate::arguments::CapArguments;
use crate::c_program::CLoops;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::process::converse;
use crate::program::{Ipcperf, cpus, spec};
use crate::sampling::{Cap, in_turn, until_decided};
use crate::trouble::Trouble;

/// Our time over that of the C loop.
const BAR: Bar = Bar::Between(0.97, 1.03);
/// What a run is aimed at.
const AIM: Duration = Duration::from_millis(40);
const DEADLINE: Duration = Duration::from_secs(90);
/// What the program calls what we call so.
const TYPES: [(&str, &str); 2] = [("pipe", "pipe"), ("local", "unix-stream")];
const SIZES: [u64; 3] = [4 << 10, 64 << 10, 1 << 20];

/// Measures every case.
pub(crate) fn measure(ipcperf: &Ipcperf, cap: CapArguments) -> Vec<Finding> {
    let compiled = CLoops::compile();
    let cases = TYPES.into_iter().flat_map(|(word, mechanism)| {
        SIZES.map(|bytes| (word, mechanism, bytes, KernelBuffer::Default))
    });
    // A pipe has no socket's buffers.
    let (word, mechanism) = TYPES[1];
    let matched = SIZES.map(|bytes| (word, mechanism, bytes, KernelBuffer::Plain(bytes)));
    cases
        .chain(matched)
        .map(|(word, mechanism, buffer_bytes, kernel_buffer)| {
            let question = question(word, buffer_bytes, kernel_buffer);
            let finding = match (&compiled, cpus(Placement::Same)) {
                (Err(trouble), _) => question.failed(trouble),
                (_, Err(why)) => question.untestable(why),
                (Ok(c), Ok(cpus)) => {
                    let spec = spec(mechanism, Kind::Stream, cpus, buffer_bytes);
                    let spec = RunSpec { kernel_buffer, ..spec };
                    question.answer(ratio(ipcperf, c, (word, spec), cap.into()))
                }
            };
            announce(finding)
        })
        .collect()
}

fn question(word: &str, buffer_bytes: u64, kernel_buffer: KernelBuffer) -> Question {
    let flag = if kernel_buffer == KernelBuffer::Default { "" } else { " -s" };
    Question {
        bench: "drop-ins",
        case: format!("ipc-static -i {word}{flag} {}", bytes(buffer_bytes)),
        unit: Unit::Ratio,
        bar: BAR,
    }
}

/// The median of the program's time over that of the C loop.
fn ratio(
    ipcperf: &Ipcperf,
    c: &CLoops,
    (word, spec): (&str, RunSpec),
    cap: Cap,
) -> Result<Estimate, Trouble> {
    let spec = ipcperf.sized(spec, AIM)?;
    until_decided(BAR, cap, |number| {
        let ours = || elapsed_s(ipcperf.command(), word, &spec);
        let (ours_s, theirs_ns) = in_turn(number, ours, || c.elapsed_ns(&spec))?;
        Ok(quotient(ours_s, theirs_ns))
    })
}

/// What `ipc-static` says that it took.
fn elapsed_s(mut ipcperf: Command, word: &str, spec: &RunSpec) -> Result<f64, Trouble> {
    let total_bytes = spec.total_bytes.unwrap_or(spec.buffer_bytes);
    ipcperf.args(["as", "ipc-static", "-Bv", "-i", word]);
    ipcperf.args((spec.kernel_buffer != KernelBuffer::Default).then_some("-s"));
    ipcperf.args(["-b", &spec.buffer_bytes.to_string(), "-t", &total_bytes.to_string(), "2proc"]);
    let said = converse(&mut ipcperf, b"", DEADLINE)?;
    let said = String::from_utf8_lossy(&said);
    let time = said.lines().find_map(|line| line.trim().strip_prefix("time: "));
    time.and_then(|time| time.parse().ok()).ok_or_else(|| Trouble::Nonsense {
        program: "ipc-static".to_owned(),
        said: said.trim().to_owned(),
    })
}

#[allow(clippy::cast_precision_loss, reason = "times of milliseconds in ns")]
fn quotient(ours_s: f64, theirs_ns: u64) -> f64 {
    ours_s * 1e9 / theirs_ns.max(1) as f64
}
