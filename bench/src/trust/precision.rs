//! Duration of `--until-ci 2`, and whether its claim holds.

use super::execution::Execution;
use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::announce;
use crate::program::Ipcperf;

/// Number of executions.
const EXECUTIONS: usize = 30;
/// Case of the bar: on one CPU, where a machine is quietest.
const CASE: &str = "-m pipe -b 64KiB --placement same --until-ci 2 --max-time 10";
/// Precision that `--until-ci 2` claims for its median.
const CLAIM: f64 = 0.02;

pub(super) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    let question = |case: &str, unit, bar| Question {
        bench: "trust",
        case: format!("pipe 64 KiB, one CPU, {case}"),
        unit,
        bar,
    };
    let time = question("known to 2 % after", Unit::Ns, Bar::AtMost(1e9));
    let truth = question(
        "share of medians within 2 % of the overall median",
        Unit::Ratio,
        Bar::AtLeast(0.93),
    );
    match executions(ipcperf) {
        Err(trouble) => vec![announce(time.failed(&trouble)), announce(truth.failed(&trouble))],
        Ok((times, medians)) => {
            let time = Estimate::from_values(&times).map(|estimate| time.judge(estimate, None));
            let truth = within(&medians).map(|share| {
                truth.judge(Estimate::single(share), Some(format!("{} campaigns", medians.len())))
            });
            time.into_iter().chain(truth).map(announce).collect()
        }
    }
}

/// Returns the durations, in ns, and the medians of all executions.
#[allow(clippy::cast_precision_loss, reason = "a second in ns")]
fn executions(ipcperf: &Ipcperf) -> Result<(Vec<f64>, Vec<f64>), BenchError> {
    let (mut times, mut medians) = (Vec::new(), Vec::new());
    for _ in 0..EXECUTIONS {
        let execution = Execution::run(ipcperf, CASE)?;
        times.push(execution.elapsed_ns as f64);
        medians.extend(execution.median());
    }
    Ok((times, medians))
}

/// Returns the share of `medians` that lie within the claim of their own median.
#[allow(clippy::cast_precision_loss, reason = "a share of counts")]
fn within(medians: &[f64]) -> Option<f64> {
    let truth = ipcperf_stats::median(medians)?;
    let near = medians.iter().filter(|median| (*median / truth - 1.0).abs() <= CLAIM).count();
    Some(near as f64 / medians.len() as f64)
}
