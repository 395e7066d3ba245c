//! `startup`: time of answers that should appear at once.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::announce;
use crate::program::Ipcperf;

/// From before the start of the process to its end, ns.
const BAR: Bar = Bar::AtMost(10e6);
const RUNS: usize = 50;
const ANSWERS: [&str; 4] = ["list", "--help", "run --help", "--version"];

/// Measures all answers, in turn.
pub(crate) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    let mut times_ns = ANSWERS.map(|_| Vec::with_capacity(RUNS));
    let taken = (0..RUNS * ANSWERS.len()).try_for_each(|number| {
        let which = number % ANSWERS.len();
        times_ns[which].push(start_and_end_ns(ipcperf, ANSWERS[which])?);
        Ok(())
    });
    let finding = |(answer, times_ns): (&str, &Vec<f64>)| {
        let case = format!("ipcperf {answer}");
        let question = Question { bench: "startup", case, unit: Unit::Ns, bar: BAR };
        announce(match (&taken, Estimate::from_values(times_ns)) {
            (Ok(()), Some(estimate)) => question.judge(estimate, None),
            (Ok(()), None) => question.untestable("no runs"),
            (Err(trouble), _) => question.failed(trouble),
        })
    };
    ANSWERS.into_iter().zip(&times_ns).map(finding).collect()
}

fn start_and_end_ns(ipcperf: &Ipcperf, answer: &str) -> Result<f64, BenchError> {
    let program = format!("ipcperf {answer}");
    let mut command = ipcperf.command();
    command.args(answer.split(' ')).stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status().map_err(|error| BenchError::Start(program.clone(), error))?;
    let elapsed = start.elapsed();
    if !status.success() {
        return Err(BenchError::ExitStatus { program, status });
    }
    Ok(nanoseconds(elapsed))
}

#[allow(clippy::cast_precision_loss, reason = "milliseconds in ns")]
fn nanoseconds(elapsed: Duration) -> f64 {
    elapsed.as_nanos() as f64
}
