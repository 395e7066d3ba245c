//! Effect of a neighbour that spins on one of the CPUs: the runs that it affected must be marked, and the medians must
//! equal those without it. Marks without the neighbour are compared with a control that spins alone and is affected
//! only by the host.

use std::time::Duration;

use ipcperf_engine::clock::now_ns;
use ipcperf_model::placement::Placement;

use super::execution::{Execution, Run};
use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::announce;
use crate::pinned::on_cpu;
use crate::program::{Ipcperf, cpus};

/// Pairs of executions, one with the neighbour and one without.
const PAIRS: usize = 12;
/// Time from the start of the command, which measures the hardware limits first, to that of the neighbour, and time
/// that it spins: well within the 60 runs of about 35 ms.
const START: Duration = Duration::from_millis(900);
const SPIN: Duration = Duration::from_millis(700);
const CASES: [(&str, Placement, &str); 3] = [
    ("pipe stream 64 KiB", Placement::Same, "-m pipe -b 64KiB"),
    ("pipe round trip 64 B", Placement::Same, "-m pipe -w round-trip -b 64"),
    ("shm-ring round trip 64 B", Placement::Split, "-m shm-ring -w round-trip -b 64"),
];
/// Minimum overlap with the neighbour for an affected run: the kernel switches tasks at ticks, up to 4 ms (250 Hz)
/// after the neighbour started.
const MIN_OVERLAP_NS: u64 = 4_000_000;
/// Windows of the control, which are as long as a run, and the share of time that a run may lose: 4 % on one CPU that
/// its peers share, 2 % on each of two.
const WINDOW_NS: u64 = 21_000_000;
const WINDOWS: usize = 60;
const MAX_LOST_SHARED: f64 = 0.04;
const MAX_LOST_APART: f64 = 0.02;
/// Minimum gap between two readings of the clock that shows an interruption.
const GAP_NS: u64 = 5_000;

/// Counts over all pairs of a case.
#[derive(Debug, Default)]
struct NeighborCounts {
    overlapped: [usize; 2],
    marked_without_neighbor: [usize; 2],
    control: [usize; 2],
    ratios: Vec<f64>,
}

pub(super) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    let cases = CASES.iter().flat_map(|(name, placement, arguments)| {
        let arguments = format!("{arguments} --placement {placement} --repetitions 60");
        match cpus(*placement) {
            Err(why) => questions(name).into_iter().map(|q| q.untestable(why.clone())).collect(),
            Ok(cpus) => match pairs(ipcperf, &arguments, cpus) {
                Ok(counts) => findings(name, &counts),
                Err(trouble) => questions(name).into_iter().map(|q| q.failed(&trouble)).collect(),
            },
        }
    });
    cases.map(announce).collect()
}

fn questions(name: &str) -> [Question; 3] {
    let question = |what: &str, bar| Question {
        bench: "trust",
        case: format!("{name}, {what}"),
        unit: Unit::Ratio,
        bar,
    };
    [
        question("affected runs marked as disturbed", Bar::AtLeast(0.95)),
        question("median with a neighbor / without", Bar::Between(0.97, 1.03)),
        question("marked without a neighbor, beyond the control", Bar::AtMost(0.05)),
    ]
}

/// Alternates executions without and with the neighbour. Each one with it is compared with the mean of those before and
/// after it, so that slow drift of the machine is not attributed to the neighbour.
fn pairs(ipcperf: &Ipcperf, arguments: &str, cpus: [u32; 2]) -> Result<NeighborCounts, BenchError> {
    let mut counts = NeighborCounts::default();
    let mut before = run_without_neighbor(ipcperf, arguments, cpus, &mut counts)?;
    for pair in 0..PAIRS {
        let (beside, spun_ns) = run_with_neighbor(ipcperf, arguments, cpus[pair % 2])?;
        let touched =
            beside.counted_runs().filter(|run| overlap_ns(run.span_ns, spun_ns) >= MIN_OVERLAP_NS);
        counts.overlapped = sum(counts.overlapped, marked(touched));
        let after = run_without_neighbor(ipcperf, arguments, cpus, &mut counts)?;
        let around = before.zip(after).map(|(one, other)| f64::midpoint(one, other));
        counts.ratios.extend(beside.median().zip(around).map(|(beside, alone)| beside / alone));
        before = after;
    }
    Ok(counts)
}

/// Returns the median of an execution without the neighbour.
fn run_without_neighbor(
    ipcperf: &Ipcperf,
    arguments: &str,
    cpus: [u32; 2],
    counts: &mut NeighborCounts,
) -> Result<Option<f64>, BenchError> {
    let alone = Execution::run(ipcperf, arguments)?;
    counts.marked_without_neighbor =
        sum(counts.marked_without_neighbor, marked(alone.counted_runs()));
    counts.control = sum(counts.control, control(cpus)?);
    Ok(alone.median())
}

/// Returns the number of marked runs and the number of all runs.
fn marked<'a>(runs: impl Iterator<Item = &'a Run>) -> [usize; 2] {
    runs.fold([0, 0], |[marked, all], run| [marked + usize::from(run.is_disturbed), all + 1])
}

fn sum(one: [usize; 2], other: [usize; 2]) -> [usize; 2] {
    [one[0] + other[0], one[1] + other[1]]
}

fn overlap_ns(run: [u64; 2], neighbour: [u64; 2]) -> u64 {
    run[1].min(neighbour[1]).saturating_sub(run[0].max(neighbour[0]))
}

/// Executes the command while a thread spins on `cpu` in the middle of it; returns when that thread started and ended.
fn run_with_neighbor(
    ipcperf: &Ipcperf,
    arguments: &str,
    cpu: u32,
) -> Result<(Execution, [u64; 2]), BenchError> {
    let (execution, spun) = std::thread::scope(|scope| {
        let neighbour = scope.spawn(|| {
            std::thread::sleep(START);
            on_cpu(cpu, || spin(SPIN, |_| ()))
        });
        let execution = Execution::run(ipcperf, arguments);
        (execution, neighbour.join())
    });
    let spun = spun.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok((execution?, spun.map_err(|errno| BenchError::System("pinning a neighbor", errno))?))
}

/// Reads the clock repeatedly for `duration`, calls `gap` for each gap, and returns when it started and ended.
fn spin(duration: Duration, mut gap: impl FnMut([u64; 2])) -> [u64; 2] {
    let start = now_ns();
    let end = start + u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 2);
    let mut last = start;
    while last < end {
        let now = now_ns();
        if now - last > GAP_NS {
            gap([last, now]);
        }
        last = now;
    }
    [start, last]
}

/// Returns in how many of the windows a thread that spins alone on each of `cpus` loses more time than a run may, and
/// the number of windows.
fn control(cpus: [u32; 2]) -> Result<[usize; 2], BenchError> {
    let most = if cpus[0] == cpus[1] { MAX_LOST_SHARED } else { MAX_LOST_APART };
    let stretches = std::thread::scope(|scope| {
        let mut distinct = cpus.to_vec();
        distinct.dedup();
        let spinning: Vec<_> = distinct
            .into_iter()
            .map(|cpu| scope.spawn(move || on_cpu(cpu, || lost_windows(most))))
            .collect();
        spinning.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    let mut lost = [false; WINDOWS];
    for one in stretches {
        let one = one.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let one = one.map_err(|errno| BenchError::System("pinning a control", errno))?;
        lost.iter_mut().zip(one).for_each(|(lost, one)| *lost |= one);
    }
    Ok([lost.iter().filter(|lost| **lost).count(), WINDOWS])
}

/// Returns which windows lose more than `most` of their time.
#[allow(clippy::cast_precision_loss, reason = "a share of milliseconds in ns")]
fn lost_windows(most: f64) -> Vec<bool> {
    let is_lost = |_| {
        let mut lost_ns = 0;
        let [start, end] = spin(Duration::from_nanos(WINDOW_NS), |[from, to]| lost_ns += to - from);
        lost_ns as f64 > most * (end - start) as f64
    };
    (0..WINDOWS).map(is_lost).collect()
}

fn findings(name: &str, counts: &NeighborCounts) -> Vec<Finding> {
    let [touched, median, beyond] = questions(name);
    let (alone, control) = (share(counts.marked_without_neighbor), share(counts.control));
    let [marked, all] = counts.overlapped;
    let touched = match all {
        0 => touched.untestable("the neighbor affected no run"),
        _ => touched.judge(
            Estimate::single(share(counts.overlapped)),
            Some(format!("{marked} of {all} runs")),
        ),
    };
    let median = match Estimate::from_values(&counts.ratios) {
        Some(estimate) => median.judge(estimate, None),
        None => median.untestable("no run was undisturbed"),
    };
    let note = format!("marked {:.1} %, control {:.1} %", 100.0 * alone, 100.0 * control);
    vec![touched, median, beyond.judge(Estimate::single(alone - control), Some(note))]
}

#[allow(clippy::cast_precision_loss, reason = "a share of counts")]
fn share([part, all]: [usize; 2]) -> f64 {
    part as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_what_both_have() {
        assert_eq!(overlap_ns([10, 20], [15, 40]), 5);
        assert_eq!(overlap_ns([10, 20], [0, 40]), 10);
        assert_eq!(overlap_ns([10, 20], [30, 40]), 0);
    }

    #[test]
    fn a_control_that_is_held_up_tells() {
        let mut gaps = 0;
        let [start, end] = spin(Duration::from_millis(2), |[from, to]| {
            assert!(to - from > GAP_NS);
            gaps += 1;
        });
        assert!(end - start >= 2_000_000);
    }
}
