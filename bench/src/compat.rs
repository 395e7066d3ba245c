//! `compat`: `ipc-static -B` compared with plain C loops that make the same calls, on one CPU.
//!
//! A pair is one run of each, with the same total; the order alternates. The figure is what the program prints after
//! `time:`, so it includes any cost of arguments, fork and text output. Like the original, neither touches its buffers
//! beforehand; the cost of that is a separate case, in C only.

use std::process::Command;
use std::time::Duration;

use ipcperf_model::message_options::{FirstTouch, MessageOptions};
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{KernelBuffer, RunSpec};

use crate::arguments::LimitArguments;
use crate::c_program::CLoops;
use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::process::run_with_input;
use crate::program::{Ipcperf, cpus, spec};
use crate::sampling::{SamplingLimit, alternate, until_decided};

/// Our time divided by that of the C loop.
const BAR: Bar = Bar::Between(0.97, 1.03);
/// Target duration of a run.
const AIM: Duration = Duration::from_millis(40);
const TIMEOUT: Duration = Duration::from_secs(90);
/// Type names of the program, with our mechanism names.
const TYPES: [(&str, &str); 2] = [("pipe", "pipe"), ("local", "unix-stream")];
const SIZES: [u64; 3] = [4 << 10, 64 << 10, 1 << 20];
/// Default total of the original, and buffer sizes for which page faults matter.
const TOTAL_BYTES: u64 = 16 << 20;
const LARGE: [u64; 3] = [1 << 20, 4 << 20, 16 << 20];
/// Wider, for runs of a few ms that consist of page faults to one half.
const LARGE_BAR: Bar = Bar::Between(0.94, 1.06);
/// Minimum slowdown by page faults with the largest buffers: 1.1 was measured on a busy machine, 2.5 on another.
const FAULTS_BAR: Bar = Bar::AtLeast(1.05);

/// Measures every case.
pub(crate) fn measure(ipcperf: &Ipcperf, cap: LimitArguments) -> Vec<Finding> {
    let compiled = CLoops::compile();
    let cases = TYPES.into_iter().flat_map(|(word, mechanism)| {
        SIZES.map(|bytes| (word, mechanism, bytes, KernelBuffer::Default))
    });
    // A pipe has no socket buffers.
    let (word, mechanism) = TYPES[1];
    let matched = SIZES.map(|bytes| (word, mechanism, bytes, KernelBuffer::Plain(bytes)));
    let as_calls = cases.chain(matched).map(|(word, mechanism, buffer_bytes, kernel_buffer)| {
        let question = question(word, buffer_bytes, kernel_buffer);
        finding(question, &compiled, |c, cpus| {
            let spec = RunSpec { kernel_buffer, ..untouched(mechanism, cpus, buffer_bytes) };
            ratio(ipcperf, c, (word, ipcperf.calibrate(spec, AIM)?), BAR, cap.into())
        })
    });
    let as_typed = LARGE.map(|buffer_bytes| {
        let case = format!("ipc-static {}, 16 MiB in all", bytes(buffer_bytes));
        finding(
            Question { bench: "compat", case, unit: Unit::Ratio, bar: LARGE_BAR },
            &compiled,
            |c, cpus| {
                let spec = with_total(untouched("pipe", cpus, buffer_bytes));
                ratio(ipcperf, c, ("pipe", spec), LARGE_BAR, cap.into())
            },
        )
    });
    let of_faults = LARGE.map(|buffer_bytes| {
        let bar = if buffer_bytes == TOTAL_BYTES { FAULTS_BAR } else { Bar::None };
        let case = format!("first touch inside over before, {}", bytes(buffer_bytes));
        finding(Question { bench: "compat", case, unit: Unit::Ratio, bar }, &compiled, |c, cpus| {
            page_fault_ratio(c, &with_total(untouched("pipe", cpus, buffer_bytes)), bar, cap.into())
        })
    });
    as_calls.chain(as_typed).chain(of_faults).collect()
}

/// Answers `question` with `answer`, if that is possible here.
fn finding(
    question: Question,
    compiled: &Result<CLoops, BenchError>,
    answer: impl FnOnce(&CLoops, [u32; 2]) -> Result<Estimate, BenchError>,
) -> Finding {
    announce(match (compiled, cpus(Placement::Same)) {
        (Err(trouble), _) => question.failed(trouble),
        (_, Err(why)) => question.untestable(why),
        (Ok(c), Ok(cpus)) => question.answer(answer(c, cpus)),
    })
}

/// Returns a run like those of `ipc-static`.
fn untouched(mechanism: &str, cpus: [u32; 2], buffer_bytes: u64) -> RunSpec {
    let message_options =
        MessageOptions { first_touch: FirstTouch::Timed, ..MessageOptions::default() };
    RunSpec { message_options, ..spec(mechanism, WorkloadKind::Stream, cpus, buffer_bytes) }
}

fn with_total(spec: RunSpec) -> RunSpec {
    RunSpec { total_bytes: Some(TOTAL_BYTES), ..spec }
}

#[allow(clippy::cast_precision_loss, reason = "times of milliseconds in ns")]
/// Returns the median of the time of C for `spec` divided by its time on buffers that were touched beforehand.
fn page_fault_ratio(
    c: &CLoops,
    spec: &RunSpec,
    bar: Bar,
    cap: SamplingLimit,
) -> Result<Estimate, BenchError> {
    let touched = RunSpec { message_options: MessageOptions::default(), ..spec.clone() };
    until_decided(bar, cap, |number| {
        let (timed_ns, touched_ns) =
            alternate(number, || c.elapsed_ns(spec), || c.elapsed_ns(&touched))?;
        Ok(quotient(timed_ns as f64 / 1e9, touched_ns))
    })
}

fn question(word: &str, buffer_bytes: u64, kernel_buffer: KernelBuffer) -> Question {
    let flag = if kernel_buffer == KernelBuffer::Default { "" } else { " -s" };
    Question {
        bench: "compat",
        case: format!("ipc-static -i {word}{flag} {}", bytes(buffer_bytes)),
        unit: Unit::Ratio,
        bar: BAR,
    }
}

/// Returns the median of the program's time divided by that of the C loop.
fn ratio(
    ipcperf: &Ipcperf,
    c: &CLoops,
    (word, spec): (&str, RunSpec),
    bar: Bar,
    cap: SamplingLimit,
) -> Result<Estimate, BenchError> {
    until_decided(bar, cap, |number| {
        let ours = || elapsed_s(ipcperf.command(), word, &spec);
        let (ours_s, theirs_ns) = alternate(number, ours, || c.elapsed_ns(&spec))?;
        Ok(quotient(ours_s, theirs_ns))
    })
}

/// Returns the time that `ipc-static` reports.
fn elapsed_s(mut ipcperf: Command, word: &str, spec: &RunSpec) -> Result<f64, BenchError> {
    let total_bytes = spec.total_bytes.unwrap_or(spec.buffer_bytes);
    ipcperf.args(["compat", "ipc-static", "-Bv", "-i", word]);
    ipcperf.args((spec.kernel_buffer != KernelBuffer::Default).then_some("-s"));
    ipcperf.args(["-b", &spec.buffer_bytes.to_string(), "-t", &total_bytes.to_string(), "2proc"]);
    let said = run_with_input(&mut ipcperf, b"", TIMEOUT)?;
    let said = String::from_utf8_lossy(&said);
    let time = said.lines().find_map(|line| line.trim().strip_prefix("time: "));
    time.and_then(|time| time.parse().ok()).ok_or_else(|| BenchError::UnexpectedOutput {
        program: "ipc-static".to_owned(),
        said: said.trim().to_owned(),
    })
}

#[allow(clippy::cast_precision_loss, reason = "times of milliseconds in ns")]
fn quotient(ours_s: f64, theirs_ns: u64) -> f64 {
    ours_s * 1e9 / theirs_ns.max(1) as f64
}
