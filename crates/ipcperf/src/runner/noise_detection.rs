//! Noise detection: decides whether a run is disturbed. Disturbed runs are marked and retried within limits, but never
//! deleted.
//!
//! The criteria for a single run are in `disturbance_criteria.rs` of the engine; steal time is judged here, over several runs.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use ipcperf_engine::worker::steal_ns;
use ipcperf_engine::{Disturbance, find_disturbance};
use ipcperf_model::Measurement;
use ipcperf_results::{ExclusionReason, Sample};

use ipcperf_plan::machine::{NoiseDetection, STEAL_SHARE, noise_detection};
use ipcperf_plan::{Case, Plan};

/// Minimum period over which steal time is measured, if a block is shorter: the kernel counts it in ticks of 10 ms.
const STEAL_WINDOW: Duration = Duration::from_secs(1);
/// Minimum period for a meaningful share.
const MIN_WINDOW: Duration = Duration::from_millis(500);

/// Decides whether runs are valid and which are retried.
#[derive(Debug)]
pub(super) struct NoiseDetector {
    noise: NoiseDetection,
    steal: StealMonitor,
    attempts: u32,
    retries_left: u64,
}

impl NoiseDetector {
    /// Creates the detection for `plan`. Retries in `before` are counted.
    pub(super) fn new(plan: &Plan, before: &[Sample]) -> Self {
        let repeated = before.iter().filter(|sample| sample.run.attempt > 1).count() as u64;
        let cpus: BTreeSet<u32> = plan.cases.iter().flat_map(|case| case.spec.all_cpus()).collect();
        Self {
            noise: noise_detection(),
            steal: StealMonitor::new(cpus.into_iter().collect()),
            attempts: plan.attempts,
            retries_left: plan.max_retries().saturating_sub(repeated),
        }
    }

    /// Starts a block.
    pub(super) fn begin_block(&mut self) {
        self.steal.begin_block();
    }

    /// Allows as many retries as further `repetitions` of this number of `cases`.
    pub(super) fn allow_retries(&mut self, cases: usize, repetitions: u32) {
        self.retries_left += cases as u64 * u64::from(repetitions);
    }

    /// Returns the reason to exclude the run of `case` in `block`, if any. In a run with an instrument that slows it
    /// down, the time that its peers waited is not evidence of a disturbance by the machine.
    pub(super) fn judge(
        &self,
        case: &Case,
        block: u32,
        measured: &Measurement,
    ) -> Option<ExclusionReason> {
        if block == 0 {
            return Some(ExclusionReason::First);
        }
        if self.noise == NoiseDetection::Off {
            return None;
        }
        if self.steal.share().is_some_and(|share| share > STEAL_SHARE) {
            return Some(ExclusionReason::Disturbed);
        }
        match find_disturbance(&case.spec, measured)? {
            Disturbance::ProbesDisagree => Some(ExclusionReason::CpuDistanceChanged),
            Disturbance::NoProbe => Some(ExclusionReason::Disturbed),
            Disturbance::RunDelay | Disturbance::MissingCpuTime => {
                case.instruments.intrusive().next().is_none().then_some(ExclusionReason::Disturbed)
            }
        }
    }

    /// Whether a run excluded for reason `why` at `attempt` is retried; a retry is counted.
    pub(super) fn request_retry(
        &mut self,
        why: Option<ExclusionReason>,
        attempt: u32,
    ) -> RetryDecision {
        let is_disturbed = why.is_some_and(ExclusionReason::is_disturbance);
        if !is_disturbed || attempt >= self.attempts || self.retries_left == 0 {
            return RetryDecision::No;
        }
        self.retries_left -= 1;
        RetryDecision::Yes
    }
}

/// Whether a run is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetryDecision {
    Yes,
    No,
}

/// Steal time of some CPUs, recorded at the start of each of the last blocks.
#[derive(Debug)]
struct StealMonitor {
    cpus: Vec<u32>,
    marks: VecDeque<(Instant, u64)>,
}

impl StealMonitor {
    fn new(cpus: Vec<u32>) -> Self {
        Self { cpus, marks: VecDeque::new() }
    }

    /// Starts a block, and drops records that are older than needed.
    fn begin_block(&mut self) {
        let now = Instant::now();
        while self.marks.get(1).is_some_and(|(next, _)| now - *next >= STEAL_WINDOW) {
            self.marks.pop_front();
        }
        if let Some(stolen_ns) = steal_ns(&self.cpus) {
            self.marks.push_back((now, stolen_ns));
        }
    }

    /// Returns the share of time stolen since this block began, or over the last second if the block is younger than
    /// that.
    fn share(&self) -> Option<f64> {
        let now = Instant::now();
        let far_enough = self.marks.iter().rfind(|(mark, _)| now - *mark >= STEAL_WINDOW);
        let (mark, before_ns) = far_enough.or_else(|| self.marks.front())?;
        let window = now - *mark;
        let stolen_ns = steal_ns(&self.cpus)?.saturating_sub(*before_ns);
        (window >= MIN_WINDOW).then(|| share(stolen_ns, window, self.cpus.len()))
    }
}

/// Returns `stolen_ns`, the sum over `cpus` CPUs (0: all CPUs), as a share of their time in `window`.
#[allow(clippy::cast_precision_loss, reason = "a share, good to three digits")]
fn share(stolen_ns: u64, window: Duration, cpus: usize) -> f64 {
    let cpus = match cpus {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        named => named,
    };
    stolen_ns as f64 / (window.as_nanos() as f64 * cpus as f64)
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use ipcperf_plan::StoppingRule;

    /// Returns a plan of two runs, one of which may be retried ten times.
    fn plan() -> Plan {
        Plan {
            cases: vec![ipcperf_plan::testing::case("pipe")],
            knee: None,
            refused: Vec::new(),
            unavailable: Vec::new(),
            unavailable_instruments: Vec::new(),
            stopping_rule: StoppingRule::Repetitions(1),
            attempts: 11,
            seed: 1,
            timeout: Duration::from_secs(10),
        }
    }

    fn detector(attempts: u32, repeats_left: u64) -> NoiseDetector {
        let (noise, steal) = (NoiseDetection::On, StealMonitor::new(vec![0]));
        NoiseDetector { noise, steal, attempts, retries_left: repeats_left }
    }

    #[test]
    fn a_disturbed_run_is_made_again_within_both_limits() {
        let mut detector = detector(3, 3);
        let mut again = |attempt| {
            detector.request_retry(Some(ExclusionReason::Disturbed), attempt) == RetryDecision::Yes
        };
        assert!(again(1) && again(2) && !again(3));
        assert!(again(1) && !again(1), "three repeats are the most");
    }

    #[test]
    fn what_counts_or_lies_in_the_first_block_is_not_made_again() {
        let mut detector = detector(3, 10);
        assert_eq!(detector.request_retry(None, 1), RetryDecision::No);
        assert_eq!(detector.request_retry(Some(ExclusionReason::First), 1), RetryDecision::No);
        assert_eq!(
            detector.request_retry(Some(ExclusionReason::CpuDistanceChanged), 1),
            RetryDecision::Yes
        );
    }

    /// However often a file is resumed, there are no more retries than in an uninterrupted execution.
    #[test]
    fn what_was_repeated_before_counts() {
        let repeated = |_| {
            let mut sample =
                ipcperf_results::testing::sample("pipe", WorkloadKind::Stream, 64, 1, 1_000);
            sample.run.attempt = 2;
            sample
        };
        let before: Vec<Sample> = (0..9).map(repeated).collect();
        let mut detector = NoiseDetector::new(&plan(), &before);
        let mut again = || detector.request_retry(Some(ExclusionReason::Disturbed), 1);
        assert_eq!([again(), again()], [RetryDecision::Yes, RetryDecision::No]);
    }

    #[test]
    fn steal_is_a_share_of_all_the_time_there_was() {
        let window = Duration::from_secs(1);
        assert!((share(20_000_000, window, 1) - 0.02).abs() < 1e-12);
        assert!((share(20_000_000, window, 2) - 0.01).abs() < 1e-12);
    }

    #[test]
    fn a_short_block_is_judged_over_a_second() {
        let mut watch = StealMonitor::new(vec![0]);
        let now = Instant::now();
        let ago = |ms| now.checked_sub(Duration::from_millis(ms)).unwrap();
        watch.marks.extend([(ago(3_000), 0), (ago(1_500), 0), (ago(1_200), 0), (ago(100), 0)]);
        watch.begin_block();
        assert_eq!(watch.marks.front().map(|mark| mark.0), Some(ago(1_200)), "older are forgotten");
        assert!(watch.share().is_some());
        assert_eq!(StealMonitor::new(vec![0]).share(), None);
    }
}
